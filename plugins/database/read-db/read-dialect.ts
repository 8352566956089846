/** The dialect of a handle for reads: each statement runs on a replica, or else on the primary. */
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type QueryResult,
} from 'kysely'

import type { Db } from '../../../db/core/database.ts'

interface ReadTargets {
  primary: Db
  /** The replica for the next statement; undefined for the primary. */
  choose(): Db | undefined
  /** Called before a statement that failed on a replica is repeated on the primary. */
  onFailure(): void
}

/** Rejects writes and transactions, also without replicas. */
export function createReadDialect(targets: ReadTargets): Dialect {
  return {
    createDriver: () => new ReadDriver(targets),
    createQueryCompiler: () => new PostgresQueryCompiler(),
    createAdapter: () => new PostgresAdapter(),
    createIntrospector: (db) => new PostgresIntrospector(db),
  }
}

const reads = ['SelectQueryNode', 'RawNode']

class ReadConnection implements DatabaseConnection {
  readonly #targets: ReadTargets

  constructor(targets: ReadTargets) {
    this.#targets = targets
  }

  executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>>
  async executeQuery(query: CompiledQuery): Promise<QueryResult<unknown>> {
    if (!reads.includes(query.query.kind)) throw new Error('readDb takes no writes')
    const { primary, choose, onFailure } = this.#targets
    const replica = choose()
    if (replica) {
      try {
        return await replica.executeQuery(query)
      } catch {
        // Replicas cancel statements that conflict with replay, and may stop. An error of the statement itself occurs
        // on the primary as well.
        onFailure()
      }
    }
    return primary.executeQuery(query)
  }

  streamQuery(): AsyncIterableIterator<never> {
    throw new Error('results are not streamed')
  }
}

class ReadDriver implements Driver {
  readonly #targets: ReadTargets

  constructor(targets: ReadTargets) {
    this.#targets = targets
  }

  async init(): Promise<void> {}

  async acquireConnection(): Promise<ReadConnection> {
    return new ReadConnection(this.#targets)
  }

  async beginTransaction(): Promise<void> {
    throw new Error('readDb has no transactions')
  }

  async commitTransaction(): Promise<void> {}

  async rollbackTransaction(): Promise<void> {}

  async releaseConnection(): Promise<void> {}

  /** The connections belong to the primary and the replicas. */
  async destroy(): Promise<void> {}
}
