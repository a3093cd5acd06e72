-- Rows of each kind that can mislead a reader, as slurmdbd 22.05 stores them.
-- Cluster lab; the clock of the tests stands at 1790100000.
SET sql_mode = '';
SET NAMES utf8mb4;

INSERT INTO tres_table (creation_time, deleted, id, type, name) VALUES
    (1, 0, 1001, 'gres', 'gpu'),
    (1, 0, 1002, 'gres', 'gpu:h100'),
    (1, 1, 1003, 'gres', 'gpu:1g.10gb+me'),
    (1, 0, 1004, 'gres', 'shard'),
    (1, 0, 1005, 'license', 'matlab');
INSERT INTO qos_table (creation_time, deleted, id, name) VALUES
    (1, 0, 20, 'high'), (1, 1, 21, 'gone');
-- Jobs refer to associations that sacctmgr has deleted since.
INSERT INTO lab_assoc_table
    (creation_time, deleted, id_assoc, user, acct, parent_acct) VALUES
    (1, 0, 50, '', 'science', 'root'),
    (1, 1, 51, '', 'closed', 'science'),
    (1, 0, 52, '', 'vision', 'science'),
    (1, 0, 60, 'anna', 'vision', ''),
    (1, 1, 61, 'bert', 'vision', ''),
    (1, 0, 62, 'zoë', 'science', '');

DELIMITER //
CREATE PROCEDURE job (id INT UNSIGNED, submit BIGINT, start BIGINT, end BIGINT,
                      st INT UNSIGNED, tres TEXT)
BEGIN
    INSERT INTO lab_job_table SET
        id_job = id, time_submit = submit, time_eligible = submit,
        time_start = start, time_end = end, state = st, tres_alloc = tres,
        tres_req = tres, job_name = 'train', account = 'vision', id_assoc = 60,
        id_user = 1001, id_group = 1001, `partition` = 'gpu', id_qos = 1,
        cpus_req = 8, nodelist = IF(start = 0, 'None assigned', 'g1'),
        nodes_alloc = 1, timelimit = 60, het_job_offset = 4294967294,
        array_max_tasks = 0;
END //
DELIMITER ;

-- plain; typed and untyped; energy has no value
CALL job (100, 1790000000, 1790000100, 1790003700, 3,
          '1=8,2=16384,3=18446744073709551614,4=1,5=8,1001=2,1002=2');
-- typed only; a type whose TRES has been deleted
CALL job (101, 1790000001, 1790000100, 1790003700, 3, '1=1,1002=1,1003=3');
-- the order of an edited text is not that of the ids
CALL job (102, 1790000002, 1790000100, 1790003700, 5, '1002=1,4=1,1=8,1001=1');
-- counts without a value are no counts
CALL job (103, 1790000003, 1790000100, 1790003700, 3,
          '1=8,1001=18446744073709551614,1002=18446744073709551615');

-- requeued twice, then completed: three rows of one id
CALL job (110, 1790000010, 1790000100, 1790000200, 1024, '1=8,4=1,1001=1');
CALL job (110, 1790000205, 1790000300, 1790000400, 7, '1=8,4=1,1001=1');
CALL job (110, 1790000405, 1790000500, 1790000600, 3, '1=8,4=1,1001=1');
-- preempted
CALL job (111, 1790000011, 1790000100, 1790000200, 8, '1=8,4=1,1001=1');
-- resized: both rows are time that was held
CALL job (112, 1790000012, 1790000100, 1790000600, 8192, '1=16,4=2,1001=4');
CALL job (112, 1790000600, 1790000600, 1790000900, 3, '1=8,4=1,1001=2');
-- the same as 22.05 writes it: the new row has the old one's start
CALL job (113, 1790000012, 1790000100, 1790000600, 8192, '1=16,4=2,1001=4');
CALL job (113, 1790000600, 1790000100, 1790000900, 3, '1=8,4=1,1001=2');

-- an array: two elements ran, four wait in the shared row
CALL job (120, 1790000020, 1790000100, 1790000300, 3, '1=1,4=1,1001=1');
CALL job (121, 1790000020, 1790000300, 0, 1, '1=1,4=1,1001=1');
CALL job (122, 1790000020, 0, 0, 0, '');
UPDATE lab_job_table SET id_array_job = 122, id_array_task = id_job - 120
    WHERE id_job IN (120, 121);
UPDATE lab_job_table SET id_array_job = 122, array_task_str = '2-5',
    array_task_pending = 4, tres_req = '1=1,4=1,1001=1' WHERE id_job = 122;

-- a het job: a row for each component
CALL job (130, 1790000030, 1790000100, 1790000200, 3, '1=4,4=1,1001=1');
CALL job (131, 1790000030, 1790000100, 1790000200, 3, '1=4,4=1,1001=2');
UPDATE lab_job_table SET het_job_id = 130, het_job_offset = id_job - 130
    WHERE id_job IN (130, 131);

-- suspended now: the column holds no duration
CALL job (140, 1790000040, 1790000100, 0, 2, '1=8,4=1,1001=1');
UPDATE lab_job_table SET time_suspended = 1790000500 WHERE id_job = 140;
INSERT INTO lab_suspend_table SELECT job_db_inx, 60, 1790000200, 1790000260
    FROM lab_job_table WHERE id_job = 140;
INSERT INTO lab_suspend_table SELECT job_db_inx, 60, 1790000500, 0
    FROM lab_job_table WHERE id_job = 140;
-- was suspended
CALL job (141, 1790000041, 1790000100, 1790000900, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET time_suspended = 60 WHERE id_job = 141;
INSERT INTO lab_suspend_table SELECT job_db_inx, 60, 1790000200, 1790000260
    FROM lab_job_table WHERE id_job = 141;

-- cancelled while pending; cancelled while running; never started, revoked
CALL job (150, 1790000050, 1790000060, 1790000060, 4, '');
CALL job (151, 1790000051, 1790000100, 1790000200, 4, '1=8,4=1,1001=1');
CALL job (152, 1790000052, 0, 1790000200, 524288, '');
-- pending; running; open for weeks
CALL job (153, 1790000053, 0, 0, 0, '');
CALL job (154, 1790000054, 1790000100, 0, 1, '1=8,4=1,1001=1');
CALL job (155, 1780000000, 1780000100, 0, 1, '1=8,4=1,1001=1');

-- on hold; it could start later than it was submitted; its array keeps it back
UPDATE lab_job_table SET time_eligible = 0 WHERE id_job = 153;
UPDATE lab_job_table SET time_eligible = 1790000070 WHERE id_job = 154;
UPDATE lab_job_table SET time_eligible = 4294967295 WHERE id_job = 121;

-- accounting does not know the GPUs that were asked for: by the request, by
-- the command line; and a job that never asked
CALL job (160, 1790000060, 1790000100, 1790003700, 3, '1=8,4=1');
UPDATE lab_job_table SET tres_req = '1=8,4=1,1001=2' WHERE id_job = 160;
CALL job (161, 1790000061, 1790000100, 1790003700, 3, '1=8,4=1');
UPDATE lab_job_table SET submit_line = 'sbatch --gres=shard:2 a.sh'
    WHERE id_job = 161;
CALL job (162, 1790000062, 1790000100, 1790003700, 3, '1=8,4=1');
UPDATE lab_job_table SET submit_line = 'sbatch gpu.sh' WHERE id_job = 162;
-- the cluster tracks gres/gpu, but no shards: this one asked, and held none
CALL job (165, 1790000065, 1790000100, 1790003700, 3, '1=8,4=1');
UPDATE lab_job_table SET submit_line = 'sbatch --gpus-per-node=2 a.sh'
    WHERE id_job = 165;
-- an id that tres_table does not know; text that nobody can read
CALL job (163, 1790000063, 1790000100, 1790003700, 3, '1=8,4=1,1001=1,1999=7');
CALL job (164, 1790000064, 1790000100, 1790003700, 3, '1=8,oops');

-- associations: deleted, not ASCII, none at all; a deleted QOS
CALL job (170, 1790000070, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET id_assoc = 61, id_qos = 21 WHERE id_job = 170;
CALL job (171, 1790000071, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET id_assoc = 62, account = 'science', id_qos = 20,
    wckey = '*k', admin_comment = 'project=ünder', timelimit = 4294967295
    WHERE id_job = 171;
CALL job (172, 1790000072, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET id_assoc = 0, account = NULL, id_qos = 0,
    job_name = 'a|b''"\\=1+1' WHERE id_job = 172;
-- slurmdbd heard of the job's end but not of its start: the association tells
-- whose it is
CALL job (173, 1790000073, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET id_assoc = 61, account = NULL, `partition` = '',
    id_user = 0, job_name = 'allocation' WHERE id_job = 173;
CALL job (174, 1790000074, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET id_assoc = 52, account = '', id_user = 0
    WHERE id_job = 174;

-- a key above 2^63, as SLUIDs of half of all clusters are
CALL job (180, 1790000080, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET job_db_inx = 18446744073709551000 WHERE id_job = 180;
INSERT INTO lab_suspend_table
    VALUES (18446744073709551000, 60, 1790000300, 1790000400);
-- about to be purged; in a reservation
CALL job (181, 1790000081, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');
UPDATE lab_job_table SET deleted = 1, id_resv = 7 WHERE id_job = 181;
-- what cannot be: an end before the start, a start in the year 2106, no id
CALL job (182, 1790000082, 1790000100, 1790000099, 3, '1=8,4=1,1001=1');
CALL job (183, 1790000083, 4294967294, 0, 1, '1=8,4=1,1001=1');
CALL job (0, 1790000084, 1790000100, 1790003700, 3, '1=8,4=1,1001=1');

-- a GPU that is shared: shard is not gpu
CALL job (190, 1790000090, 1790000100, 1790003700, 3, '1=8,4=1,1004=3,1005=2');

DROP PROCEDURE job;

-- the cluster registered twice; slurmctld was lost; an outage in two adjacent
-- rows; one that is open
INSERT INTO lab_event_table
    (time_start, time_end, node_name, cluster_nodes, reason, state, tres) VALUES
    (1780000000, 1790000000, '', 'g1', 'Cluster Registered TRES', 0,
     '1=128,2=64000,1001=8,1002=8'),
    (1790000000, 0, '', 'g[1-2],m1', 'Cluster Registered TRES', 0,
     '1=256,2=128000,1001=16,1002=16'),
    (1790000400, 1790000500, '', '', 'slurmctld disconnect', 1, ''),
    (1789999000, 1790000000, 'g2', '', 'bad "PSU"', 513, '1=128,1001=8,1002=8'),
    (1790000000, 1790000300, 'g2', '', 'bad "PSU"', 513, '1=128,1001=8,1002=8'),
    (1790000350, 0, 'm1', '', 'maint', 32768, '1=128,1001=8,1003=7');

-- a reservation that changed and was removed; one that has not begun
INSERT INTO lab_resv_table
    (id_resv, deleted, assoclist, flags, nodelist, resv_name, time_start,
     time_end, tres) VALUES
    (7, 0, ',60,61,52,', 64, 'g1', 'class', 1790000000, 1790000500, '1=128'),
    (7, 1, ',62,', 64, 'g[1-2]', 'class', 1790000500, 1790000700, '1=256'),
    (8, 0, '', 1, 'g[1-2],m1', 'window', 1790200000, 1790300000, '');
