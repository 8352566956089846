/**
 * Lists all hosts of a database, as `host:port,host:port`. Our own parameter: pg ignores it, and libpq never gets it.
 */
export const hostsParameter = 'postern_hosts'
