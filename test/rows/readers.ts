/** Which requests read which columns, by the statements that they send. */
import { watchPool } from '../support/statements.ts'
import type { Answer } from './requests/send.ts'
import type { Column, Tables } from './tables.ts'
import type { World } from './world/index.ts'

export interface Reader {
  name: string
  request: () => Promise<Answer>
  /** What it answers to rows that the server wrote: of 500 and above, where it needs more than this server. */
  status: number
  /** The tables that it changes. */
  changes: string[]
}

/** Sends each request once. Returns those that read existing values of a column. */
export async function findReaders(
  { app }: World,
  tables: Tables,
  requests: ReadonlyMap<string, () => Promise<Answer>>,
): Promise<(column: Column) => Reader[]> {
  const sent: { reader: Reader; texts: string[] }[] = []
  for (const [name, request] of requests) {
    let status = 0
    const trips = await watchPool(app.pool, async () => {
      status = (await request()).status
    })
    const changes = await tables.restoreAll()
    sent.push({ reader: { name, request, status, changes }, texts: trips.flat() })
  }
  return (column) =>
    sent.filter(({ texts }) => texts.some((text) => reads(text, column))).map((one) => one.reader)
}

/** Whether a statement reads rows of the table, and names the column or returns all. A plain insert reads none. */
function reads(text: string, { table, name }: Column): boolean {
  const isRead = new RegExp(`\\b(from|join|update|using|,) ("?\\w+"?\\.)?"?${table}"?\\b`).test(
    text,
  )
  const isUpserted = text.includes(`"${table}"`) && text.includes('on conflict')
  return (isRead || isUpserted) && (text.includes('*') || new RegExp(`\\b${name}\\b`).test(text))
}
