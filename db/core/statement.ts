/**
 * The ordinary way to write a query with a fixed text: it is built and compiled once, with parameters, and run many
 * times, inside transactions and outside. Building a query costs more than running it.
 *
 *    export const findTag = queryOne((db, param: ParamOf<{ id: string }>) =>
 *      db.selectFrom('sessions').select('tag').where('id', '=', param('id')))
 *    const session = await findTag(trx, { id })
 */
import { type Compilable, type CompiledQuery, type QueryResult, type RawBuilder, sql } from 'kysely'

import type { Db } from './database.ts'

/** Names a parameter of the statement. Its SQL type is inferred from its use. */
export type ParamOf<Values> = <Name extends keyof Values & string>(
  name: Name,
) => RawBuilder<Given<Values, Name>>

/** One parameter per name, for the columns of the same names. */
export function bindParams<Values>(
  value: ParamOf<Values>,
  names: readonly (keyof Values & string)[],
): Places<Values> {
  const places: Places<Values> = {}
  const put = <Name extends keyof Values & string>(name: Name) => {
    places[name] = value(name)
  }
  names.forEach(put)
  return places
}

/** The columns that a partial update sets. */
export function listChangedKeys<Values extends object>(values: Values): (keyof Values & string)[] {
  return Object.keys(values).filter((name): name is keyof Values & string => name in values)
}

/** An optional property selects another statement; its value is never null by omission. */
type Given<Values, Name extends keyof Values> = Exclude<Values[Name], undefined>
type Places<Values> = { [Name in keyof Values & string]?: RawBuilder<Given<Values, Name>> }

type Build<Values, Row> = (db: Db, value: ParamOf<Values>) => Compilable<Row>
type Run<Values, Result> = (db: Db, values: Values) => Promise<Result>

/** Returns a function that runs the statement and returns all rows. */
export function queryMany<Values, Row>(build: Build<Values, Row>): Run<Values, Row[]> {
  const run = prepare(build)
  return async (db, values) => (await run(db, values)).rows
}

/** Returns a function that returns the first row, or undefined. */
export function queryOne<Values, Row>(build: Build<Values, Row>): Run<Values, Row | undefined> {
  const run = prepare(build)
  return async (db, values) => (await run(db, values)).rows[0]
}

/**
 * As `queryOne`, for a single-statement change. Outside of transactions, concurrent calls are committed as a group. Use
 * it for frequent changes of rows that are not locked for long.
 */
export function queryOneBatched<Values, Row>(
  build: Build<Values, Row>,
): Run<Values, Row | undefined> {
  const run = prepare(build, 'grouped')
  return async (db, values) => (await run(db, values)).rows[0]
}

/** Returns a function that returns the first row and throws when there is none. */
export function queryOneOrThrow<Values, Row>(build: Build<Values, Row>): Run<Values, Row> {
  const run = prepare(build)
  return async (db, values) => {
    const [row] = (await run(db, values)).rows
    if (row === undefined) throw new Error('a statement returned no row')
    return row
  }
}

/** Returns a function that returns the number of written rows. */
export function executeStatement<Values>(build: Build<Values, unknown>): Run<Values, number> {
  const run = prepare(build)
  return async (db, values) => Number((await run(db, values)).numAffectedRows ?? 0n)
}

/**
 * A statement whose result is not awaited: inside a transaction it is sent with the next statement or with the commit,
 * which fails if this one does. For locks, and for writes that fail only when the connection does.
 */
export function executePipelined<Values>(build: Build<Values, unknown>): Run<Values, void> {
  const run = prepare(build, 'pipelined')
  return async (db, values) => {
    await run(db, values)
  }
}

/** Compiles one statement for each used combination of columns. */
export function queryVariants<Name extends string, Run>(
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

function prepare<Values, Row>(
  build: Build<Values, Row>,
  delivery?: StatementDelivery,
): (db: Db, values: Values) => Promise<QueryResult<Row>> {
  // Keyed by the adapter, which all handles of one database share.
  const statements = new WeakMap<object, ReturnType<typeof compile<Values, Row>>>()
  return (db, values) => {
    const { adapter } = db.getExecutor()
    let statement = statements.get(adapter)
    if (!statement) {
      statement = compile(build, db, delivery)
      statements.set(adapter, statement)
    }
    return db.executeQuery<Row>(statement(values))
  }
}

/** Compiles the statement and returns a function that binds parameters to it. */
function compile<Values, Row>(
  build: Build<Values, Row>,
  db: Db,
  delivery: StatementDelivery | undefined,
) {
  const names = new Map<unknown, keyof Values & string>()
  const value: ParamOf<Values> = (name) => {
    const place = { name }
    names.set(place, name)
    return sql`${place}`
  }
  const query = build(db, value).compile()
  const places = query.parameters.map((constant) => ({ constant, name: names.get(constant) }))
  return (values: Values): DeliveredQuery<Row> => ({
    ...query,
    delivery,
    parameters: places.map(({ constant, name }) => (name === undefined ? constant : values[name])),
  })
}

/**
 * How a statement is sent to Postgres; the driver (`plugins/database/driver`) reads it from the compiled query.
 * `pipelined`: its result is not awaited; inside a transaction it is sent with the next statement. `grouped`: outside
 * of transactions it may be committed together with statements of other requests.
 */
export type StatementDelivery = 'pipelined' | 'grouped'

export interface DeliveredQuery<Row> extends CompiledQuery<Row> {
  readonly delivery: StatementDelivery | undefined
}

/** Undefined for a query that is sent immediately and alone. */
export function getDelivery(query: CompiledQuery): StatementDelivery | undefined {
  const delivery = 'delivery' in query ? query.delivery : undefined
  return delivery === 'pipelined' || delivery === 'grouped' ? delivery : undefined
}
