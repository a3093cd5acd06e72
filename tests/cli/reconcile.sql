-- A morning of cluster lab that slurmdbd and the ledger agree about, as
-- slurmdbd 22.05 stores it. The first full hour is 2026-09-21T15:00:00Z.
SET sql_mode = '';
SET @t = 1790000000 - 1790000000 % 3600 + 3600;

INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'), (1, 0, 1002, 'gres', 'gpu:h100');
INSERT INTO lab_assoc_table
    (creation_time, deleted, id_assoc, user, acct, parent_acct) VALUES
    (1, 0, 50, '', 'vision', 'root'),
    (1, 0, 60, 'anna', 'vision', ''),
    (1, 0, 61, 'bert', 'vision', ''),
    (1, 0, 62, 'cara', 'speech', ''),
    (1, 0, 63, 'dora', 'speech', '');
INSERT INTO lab_event_table
    (node_name, cluster_nodes, time_start, time_end, state, tres, reason) VALUES
    ('', 'g[1-4]', @t - 86400, 0, 0, '1=64,2=65536,4=4,1001=16,1002=16', '');

DELIMITER //
CREATE PROCEDURE job (id INT UNSIGNED, assoc INT UNSIGNED, start BIGINT,
                      end BIGINT, st INT UNSIGNED, tres TEXT)
BEGIN
    INSERT INTO lab_job_table SET
        id_job = id, time_submit = start - 60, time_eligible = start - 60,
        time_start = start, time_end = end, mod_time = IF(end, end, start),
        state = st, tres_alloc = tres, tres_req = tres, job_name = 'train',
        account = (SELECT acct FROM lab_assoc_table WHERE id_assoc = assoc),
        id_assoc = assoc, id_user = 1000 + assoc, id_group = 100,
        `partition` = 'gpu', id_qos = 1, cpus_req = 8, nodelist = 'g1',
        nodes_alloc = 1, timelimit = 4294967295, het_job_offset = 4294967294,
        array_max_tasks = 0;
END //
DELIMITER ;

CALL job (100, 60, @t + 600, @t + 9000, 3, '1=8,4=1,1001=2,1002=2');
CALL job (101, 60, @t + 3600, @t + 7200, 3, '1=8,4=1,1001=1');
CALL job (102, 61, @t + 100, @t + 10900, 5, '1=8,4=1,1001=4,1002=4');
CALL job (103, 62, @t + 1000, @t + 2000, 3, '1=8,4=1');
-- suspended for half an hour: the GPUs count all the same
CALL job (104, 62, @t + 1800, @t + 9100, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET time_suspended = 1800 WHERE id_job = 104;
INSERT INTO lab_suspend_table (job_db_inx, id_assoc, time_start, time_end)
    SELECT job_db_inx, id_assoc, @t + 3600, @t + 5400 FROM lab_job_table
    WHERE id_job = 104;
-- still running
CALL job (105, 63, @t + 7000, 0, 1, '1=8,4=1,1001=2');
-- requeued, then done
CALL job (106, 63, @t + 200, @t + 900, 1024, '1=8,4=1,1001=2');
CALL job (106, 63, @t + 1200, @t + 1900, 3, '1=8,4=1,1001=2');
