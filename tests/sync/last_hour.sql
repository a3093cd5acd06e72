-- A job of the last hours, for a slurmdbd that has just started.
SET sql_mode = '';
INSERT INTO lab_job_table SET id_job = 900, time_submit = UNIX_TIMESTAMP() - 8000,
    time_eligible = time_submit, time_start = time_submit + 800,
    time_end = time_submit + 4400, state = 3, tres_alloc = '1=8,4=1,1001=2,1002=2',
    tres_req = tres_alloc, job_name = 'train', account = 'vision', id_assoc = 60,
    id_user = 1001, id_group = 1001, `partition` = 'gpu', id_qos = 1, cpus_req = 8,
    nodelist = 'g1', nodes_alloc = 1, timelimit = 60, het_job_offset = 4294967294,
    array_max_tasks = 0;
