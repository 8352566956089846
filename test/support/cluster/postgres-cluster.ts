/** Two Postgres servers with the operations of a cluster manager such as Patroni. */
import { query } from '../../db/sql.ts'
import { type PostgresServer, startPostgresPair } from '../../services/postgres.ts'
import type { Ending } from '../processes/ending.ts'
import { until } from '../processes/until.ts'

export async function startPostgresCluster(t: Ending) {
  let { primary, standby } = await startPostgresPair(t)
  // Port of the balancer's check.
  await primary.sql('create role haproxy login')

  async function promote(): Promise<void> {
    await standby.promote()
    ;[primary, standby] = [standby, primary]
    // Without a standby, commits are not awaited.
    await replicateAsynchronously(primary)
  }

  return {
    /** Ports of both, in constant order. */
    ports: [primary.port, standby.port] as const,
    get url() {
      return primary.url
    },
    get primary() {
      return primary
    },
    get standby() {
      return standby
    },

    /** From now on only changes received by the standby are acknowledged. */
    replicateSynchronously: () => replicateSynchronously(primary),

    /** Planned: the primary sends everything to the standby before it stops, and then follows it. */
    async switchOver(): Promise<void> {
      await primary.stop('fast')
      await promote()
      await standby.follow(primary.port)
      await standby.start()
      await isStreaming(primary)
    },

    /** Unplanned: the primary disappears. */
    async failOver(): Promise<void> {
      await primary.kill()
      await promote()
    },

    /** The standby is lost: the primary continues without it. */
    async stopStandby(): Promise<void> {
      const stopped = standby.stop('fast')
      await until(async () => !(await replication(primary.url)).isStreaming)
      await replicateAsynchronously(primary)
      await stopped
    },

    async startStandby(): Promise<void> {
      await standby.start()
      await isStreaming(primary)
    },

    /** As `failOver`, with a standby that was disconnected and lacks the last changes. */
    async failOverWithLoss(): Promise<void> {
      await primary.kill()
      await standby.start()
      await promote()
    },
  }
}

async function replicateSynchronously(primary: PostgresServer): Promise<void> {
  await primary.sql("alter system set synchronous_standby_names = '*'")
  await primary.sql('select pg_reload_conf()')
  const { position } = await replication(primary.url)
  // Changes before this setting did not wait for the standby.
  await until(async () => (await replication(primary.url, position)).isSynchronous)
}

async function replicateAsynchronously(primary: PostgresServer): Promise<void> {
  await primary.sql('alter system reset synchronous_standby_names')
  await primary.sql('select pg_reload_conf()')
}

function isStreaming({ url }: PostgresServer): Promise<boolean> {
  return until(async () => (await replication(url)).isStreaming)
}

/** Whether a standby has received this position of the log; and the current end of the log. */
async function replication(url: string, position = '0/0') {
  const [row] = await query(url, {
    text: `select pg_current_wal_lsn()::text as position,
        exists (select from pg_stat_replication where state = 'streaming') as streaming,
        exists (select from pg_stat_replication
          where sync_state = 'sync' and flush_lsn >= $1::pg_lsn) as synchronous`,
    values: [position],
  })
  return {
    position: String(row?.position),
    isStreaming: row?.streaming === true,
    isSynchronous: row?.synchronous === true,
  }
}
