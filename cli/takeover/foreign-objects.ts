import { sql } from 'kysely'

import type { Db } from '../../db/core/database.ts'
import { findPolicyFunctions } from '../../db/gotrue/takeover.ts'
import { note, type TakeoverFinding } from './finding.ts'

/** Lists foreign objects on GoTrue's tables, which are kept. */
export async function foreignObjects(db: Db, schema: string): Promise<TakeoverFinding[]> {
  const triggers = await sql<{ name: string }>`
    select tgname || ' on ' || tgrelid::regclass as name from pg_trigger
    join pg_class on pg_class.oid = tgrelid
    where not tgisinternal and relnamespace = to_regnamespace(quote_ident(${schema}))
      and relname not like 'postern\\_%'
  `.execute(db)
  const references = await sql<{ name: string }>`
    select conname || ' of ' || conrelid::regclass as name from pg_constraint
    join pg_class on pg_class.oid = conrelid
    where contype = 'f' and relnamespace <> to_regnamespace(quote_ident(${schema}))
      and confrelid in (select oid from pg_class where relnamespace = to_regnamespace(quote_ident(${schema})))
  `.execute(db)
  const functions = await findPolicyFunctions(db, schema)
  return [
    ...functions.filter(({ isOurs }) => !isOurs).map(({ name }) => note(keptFunction(name))),
    ...triggers.rows.map(({ name }) => note(`The trigger ${name} keeps working.`)),
    ...references.rows.map(({ name }) => note(`The foreign key ${name} keeps working.`)),
  ]
}

const keptFunction = (name: string) =>
  `The function ${name} is kept instead of the one for organizations. Rename it before the first start if policies are to read organizations with it.`
