/** One database for the tests of a suite, for example for servers that run one after the other. */
import { cloneDatabase, type TestDatabase, withoutDrop } from '../database.ts'
import { endingOfSuite } from './ending.ts'

/** Called in a suite: its tests use this database, or start servers on it; it is dropped when the suite ends. */
export function sharedDatabase(make = cloneDatabase): () => Promise<TestDatabase> {
  const ending = endingOfSuite()
  let database: Promise<TestDatabase> | undefined
  return async () => {
    database ??= make(ending)
    return withoutDrop(await database)
  }
}
