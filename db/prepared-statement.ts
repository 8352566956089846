/**
 * The ordinary way to write a query whose text is always the same: it is built and compiled once, with places for its
 * values, and run many times, inside transactions and outside. Building one costs more than running it.
 *
 *   export const findTag = preparedRow((db, value: ValueOf<{ id: string }>) =>
 *     db.selectFrom('sessions').select('tag').where('id', '=', value('id')))
 *
 *   const session = await findTag(trx, { id })
 */
import { type Compilable, type CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'

import { type Db, sharingHandle } from './database.ts'
import { markUnawaited } from './unawaited.ts'

/** Names a value of the statement, once or more often. In SQL it has the type of what it is compared with. */
export type ValueOf<Values> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Given<Values, Name>>

/** Places for the values of these names, each for the column of its name. */
export function valuesOf<Values>(
  value: ValueOf<Values>,
  names: readonly (keyof Values & string)[],
): Places<Values> {
  const places: Places<Values> = {}
  const put = <Name extends keyof Values & string>(name: Name) => {
    places[name] = value(name)
  }
  names.forEach(put)
  return places
}

/** The names that a change of a row has values for. */
export function namesIn<Values extends object>(values: Values): (keyof Values & string)[] {
  return Object.keys(values).filter((name): name is keyof Values & string => name in values)
}

/** A value that may be left out is one of another statement, not null. */
type Given<Values, Name extends keyof Values> = Exclude<Values[Name], undefined>
type Places<Values> = { [Name in keyof Values & string]?: RawBuilder<Given<Values, Name>> }

type Build<Values, Row> = (db: Db, value: ValueOf<Values>) => Compilable<Row>
type Run<Values, Result> = (db: Db, values: Values) => Promise<Result>

/** A function that runs the statement and returns all its rows. */
export function preparedRows<Values, Row>(build: Build<Values, Row>): Run<Values, Row[]> {
  const run = prepare(build)
  return async (db, values) => (await run(db, values)).rows
}

/** The first row; undefined when there is none. */
export function preparedRow<Values, Row>(build: Build<Values, Row>): Run<Values, Row | undefined> {
  const run = prepare(build)
  return async (db, values) => (await run(db, values)).rows[0]
}

/**
 * The same of a change that is complete by itself: outside of transactions, those of requests that come at once are
 * committed together. For changes that many requests make, of rows that nobody holds for long.
 */
export function preparedSharedRow<Values, Row>(
  build: Build<Values, Row>,
): Run<Values, Row | undefined> {
  const run = prepare(build)
  return async (db, values) => (await run(db, values, sharingHandle(db))).rows[0]
}

/** The first row of a statement that always has one; throws when it has none after all. */
export function preparedOneRow<Values, Row>(build: Build<Values, Row>): Run<Values, Row> {
  const run = prepare(build)
  return async (db, values) => {
    const [row] = (await run(db, values)).rows
    if (row === undefined) throw new Error('a statement returned no row')
    return row
  }
}

/** How many rows the statement wrote. */
export function preparedWrite<Values>(build: Build<Values, unknown>): Run<Values, number> {
  const run = prepare(build)
  return async (db, values) => Number((await run(db, values)).numAffectedRows ?? 0n)
}

/**
 * A statement whose outcome nobody waits for: inside a transaction it goes out with the next one, or with the commit, which
 * fails if this one does. For locks, and for writes that fail only where everything fails.
 */
export function preparedUnawaited<Values>(build: Build<Values, unknown>): Run<Values, void> {
  const run = prepare(build, (db, values) => {
    if (db.isTransaction) markUnawaited(values)
  })
  return async (db, values) => {
    await run(db, values)
  }
}

/** Statements that differ by the names of what they write: one for each combination that is asked for. */
export function preparedFor<Name extends string, Run>(
  make: (names: readonly Name[]) => Run,
): (names: readonly Name[]) => Run {
  const made = new Map<string, Run>()
  return (names) => {
    const sorted = names.toSorted()
    const key = sorted.join()
    const run = made.get(key) ?? make(sorted)
    made.set(key, run)
    return run
  }
}

/** `onValues` is told of the values of each run before they are sent, by the handle `by`. */
function prepare<Values, Row>(
  build: Build<Values, Row>,
  onValues?: (db: Db, values: readonly unknown[]) => void,
): (db: Db, values: Values, by?: Db) => Promise<QueryResult<Row>> {
  // All handles of one database share its adapter, those inside transactions too.
  const statements = new WeakMap<object, ReturnType<typeof compile<Values, Row>>>()
  return (db, values, by = db) => {
    const { adapter } = db.getExecutor()
    let statement = statements.get(adapter)
    if (!statement) {
      statement = compile(build, db)
      statements.set(adapter, statement)
    }
    const query = statement(values)
    onValues?.(db, query.parameters)
    return by.executeQuery<Row>(query)
  }
}

/** A function that puts values into their places. */
function compile<Values, Row>(build: Build<Values, Row>, db: Db) {
  const names = new Map<unknown, keyof Values & string>()
  const value: ValueOf<Values> = (name) => {
    const place = { name }
    names.set(place, name)
    return sql`${place}`
  }
  const query = build(db, value).compile()
  const places = query.parameters.map((constant) => ({ constant, name: names.get(constant) }))
  return (values: Values): CompiledQuery<Row> => ({
    ...query,
    parameters: places.map(({ constant, name }) => (name === undefined ? constant : values[name])),
  })
}
