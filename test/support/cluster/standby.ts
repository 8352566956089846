/** A primary with a streaming standby whose lag the test controls. Both stop with the test, and when it is killed. */
import { query } from '../../db/sql.ts'
import { startPostgresPair } from '../../services/postgres.ts'
import type { Ending } from '../processes/ending.ts'
import { until } from '../processes/until.ts'

export async function startWithStandby(t: Ending) {
  const { primary, standby } = await startPostgresPair(t)
  return {
    primary,
    standby,
    /** From now on the standby receives changes without replaying them. */
    pauseReplay: async () => void (await query(standby.url, 'select pg_wal_replay_pause()')),
    resumeReplay: async () => void (await query(standby.url, 'select pg_wal_replay_resume()')),
    /** Waits until the standby has replayed all commits of the primary. */
    async caughtUp(): Promise<void> {
      const [row] = await query(primary.url, 'select pg_current_wal_lsn()::text as position')
      await until(() => hasReplayed(standby.url, String(row?.position)))
    },
  }
}

async function hasReplayed(url: string, position: string): Promise<boolean> {
  const [row] = await query(url, {
    text: 'select pg_last_wal_replay_lsn() >= $1::pg_lsn as done',
    values: [position],
  })
  return row?.done === true
}
