/** JSON in results: parsed by the name of its column, so that what other programs wrote there fails no request. */
import type pg from 'pg'

import {
  getJsonParser,
  getJsonTextParser,
  type ReportUnreadable,
} from '../../../db/core/stored-json.ts'

/** OIDs of types. */
const [json, jsonb, text] = [114, 3802, 25]

type Field = Pick<pg.FieldDef, 'name' | 'dataTypeID' | 'tableID'>

/** What reads the text of a field. */
export function getFieldParser(
  client: pg.ClientBase,
  field: Field,
  report: ReportUnreadable,
): (value: string) => unknown {
  return getOwnParser(field, report) ?? client.getTypeParser(field.dataTypeID, 'text')
}

/** Undefined for a field without JSON. */
function getOwnParser({ name, dataTypeID, tableID }: Field, report: ReportUnreadable) {
  const reportField: ReportUnreadable = (found) =>
    report(tableID ? { ...found, tableId: tableID } : found)
  if (dataTypeID === text) return getJsonTextParser(name, reportField)
  return isJson(dataTypeID) ? getJsonParser(name, reportField) : undefined
}

const isJson = (oid: number) => oid === json || oid === jsonb

/** For a query of pg, which knows no names where it parses: JSON stays text until `parseJsonFields`. */
export const jsonAsText = (client: pg.ClientBase): pg.CustomTypesConfig => ({
  getTypeParser: (oid, format) =>
    isJson(oid) ? String : client.getTypeParser(oid, format ?? 'text'),
})

export function parseJsonFields<Result extends Pick<pg.QueryResult, 'fields' | 'rows'>>(
  result: Result,
  report: ReportUnreadable,
): Result {
  for (const field of result.fields) {
    const parse = getOwnParser(field, report)
    if (!parse) continue
    const { name } = field
    for (const row of result.rows) {
      if (row[name] !== null) row[name] = parse(row[name])
    }
  }
  return result
}
