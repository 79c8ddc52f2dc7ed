INSERT INTO origin (id) SELECT md5(random()::TEXT || clock_timestamp()::TEXT || pg_backend_pid()::TEXT);
