/**
 * A connection to whichever host of the connection string accepts it. Every connection of the server is one of these.
 */
import pg from 'pg'

import {
  chooseEndpoint,
  type DatabaseEndpoints,
  forgetEndpoint,
  parseEndpoints,
  watchForReplica,
} from './endpoints.ts'

type Connected = (error: Error) => void

export class DatabaseClient extends pg.Client {
  readonly #config: pg.ClientConfig
  readonly #endpoints: DatabaseEndpoints | undefined

  constructor(config: pg.ClientConfig = {}) {
    const { connectionString } = config
    const endpoints = connectionString === undefined ? undefined : parseEndpoints(connectionString)
    const first = endpoints?.attempts[0]
    super(first === undefined ? config : { ...config, connectionString: first })
    this.#config = config
    this.#endpoints = endpoints
  }

  override connect(): Promise<pg.Client>
  override connect(callback: Connected): void
  override connect(callback?: Connected): Promise<pg.Client> | undefined {
    const { connectionString } = this.#config
    const endpoints = this.#endpoints
    if (connectionString === undefined || !endpoints || endpoints.attempts.length === 1) {
      return callback ? void super.connect(callback) : super.connect()
    }
    const connected = this.#connectToAny(connectionString, endpoints)
    if (!callback) return connected
    connected.then(() => Reflect.apply(callback, undefined, []), callback)
    return undefined
  }

  async #connectToAny(connectionString: string, endpoints: DatabaseEndpoints): Promise<pg.Client> {
    const attempt = await chooseEndpoint(connectionString, endpoints)
    const { host, port, ssl, connection } = new pg.Client({
      ...this.#config,
      connectionString: attempt,
    })
    Object.assign(this, { host, port, ssl, connection })
    const isReplica = watchForReplica(this)
    try {
      await super.connect()
    } catch (error) {
      forgetEndpoint(connectionString)
      throw error
    }
    // The next connection looks for the new primary.
    if (endpoints.needsPrimary && isReplica()) forgetEndpoint(connectionString)
    return this
  }
}
