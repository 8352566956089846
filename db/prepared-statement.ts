/**
 * Statements built once and run many times: building and compiling one costs more than running it, so the few on the
 * hottest paths are kept compiled, with places for their values.
 */
import { type Compilable, type CompiledQuery, type RawBuilder, sql } from 'kysely'

import type { Db } from './database.ts'

/** Stands in a statement where a value will be. */
class Place {
  readonly name: string

  constructor(name: string) {
    this.name = name
  }
}

/** Names a value of the statement; it has the type of what it is compared with. */
export type Places<Values> = { [Name in keyof Values & string]: RawBuilder<Values[Name]> }

/** A function that runs the statement with values; it is built at the first use of a database. */
export function prepareStatement<Values extends object, Row>(
  names: readonly (keyof Values & string)[],
  build: (db: Db, places: Places<Values>) => Compilable<Row>,
): (db: Db, values: Values) => Promise<Row | undefined> {
  // All handles of one database share its adapter, those inside transactions too.
  const statements = new WeakMap<object, CompiledQuery<Row>>()
  const placeEntries = names.map((name) => [name, sql`${new Place(name)}`])

  return async (db, values) => {
    const { adapter } = db.getExecutor()
    let statement = statements.get(adapter)
    if (!statement) {
      statement = build(db, Object.fromEntries(placeEntries)).compile()
      statements.set(adapter, statement)
    }
    const given = new Map<string, unknown>(Object.entries(values))
    const parameters = statement.parameters.map((parameter) =>
      parameter instanceof Place ? given.get(parameter.name) : parameter,
    )
    const { rows } = await db.executeQuery<Row>({ ...statement, parameters })
    return rows[0]
  }
}
