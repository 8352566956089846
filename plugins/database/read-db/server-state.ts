/** What a Postgres server reports about itself, to measure the lag of a replica. */
import type pg from 'pg'

export interface ServerState {
  isStandby: boolean
  /** The log position: replayed on a standby, written on a primary. Null for a standby that has replayed nothing. */
  position: string | null
  /** Equal for all copies of one cluster. */
  system: string
  /** Equal for one running server only. */
  startedAt: string
}

const timeoutMs = 2_000

const text = `
  select pg_is_in_recovery() as "isStandby",
    (case when pg_is_in_recovery() then pg_last_wal_replay_lsn() else pg_current_wal_lsn() end)::text as position,
    (select system_identifier::text from pg_control_system()) as system,
    extract(epoch from pg_postmaster_start_time())::text as "startedAt"`

/** Throws when the server does not respond within two seconds, or does not have these functions. */
export async function readServerState(pool: pg.Pool): Promise<ServerState> {
  const statement = { text, query_timeout: timeoutMs }
  const { rows } = await pool.query<ServerState>(statement)
  const [state] = rows
  if (!state) throw new Error('it returned no row')
  return state
}

/** Why a server is not used as a replica of the primary; undefined when it may be. */
export function findMismatch(primary: ServerState, replica: ServerState): string | undefined {
  if (replica.system !== primary.system) return 'it is not a copy of the primary'
  // A load balancer may lead to the primary itself.
  const isPrimary = replica.startedAt === primary.startedAt
  return replica.isStandby || isPrimary ? undefined : 'it is not a standby'
}
