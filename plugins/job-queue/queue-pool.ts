/**
 * The queue's own connections. graphile-worker gives one back twice when the database is lost while it ends, and the
 * second time nobody handles the refusal, which would end the process.
 */
import pg from 'pg'

type Release = (error?: Error | boolean) => void
type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: Release,
) => void

export class QueuePool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.PoolClient> | undefined {
    if (!callback) return this.#connectOnce()
    super.connect((error, client, release) => callback(error, client, once(release)))
    return undefined
  }

  async #connectOnce(): Promise<pg.PoolClient> {
    const client = await super.connect()
    client.release = once(client.release)
    return client
  }
}

function once(release: Release): Release {
  let isReleased = false
  return (error) => {
    if (isReleased) return
    isReleased = true
    release(error)
  }
}
