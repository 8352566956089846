/**
 * Rows that other programs wrote: every column that may hold null or JSON holds null and each kind of JSON, under each
 * request that reads it. The columns are those of the database and the requests those of the server's routes, so that a
 * new one is tested by itself.
 */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { findReaders, type Reader } from './readers.ts'
import { createRequests } from './requests/index.ts'
import {
  type Column,
  keepTables,
  listColumns,
  listValues,
  overwrite,
  type Tables,
} from './tables.ts'
import { createWorld, type World } from './world/index.ts'

/** `TEST_ROWS=users npm run test:rows` tests the tables with this in their name. */
const only = new RegExp(process.env.TEST_ROWS ?? '')

/** Columns, or tables, that no request reads, and why. */
const unread: Record<string, string> = {}

/** Tables without a row in the world, and why. */
const empty: Record<string, string> = {}

suite('rows of other programs', () => {
  test('fail no request', async (t) => {
    const lines: string[] = []
    const world = await createWorld(t, lines)
    // Codes and requests of the world expire within minutes.
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const requests = createRequests(world)
    const tables = await keepTables(world.app)
    const findColumnReaders = await findReaders(world, tables, requests)
    const columns = (await listColumns(world.app)).filter(({ table }) => only.test(table))
    const [withoutReader, withoutRow]: [string[], string[]] = [[], []]
    for (const column of columns) {
      const label = `${column.table}.${column.name}`
      const readers = findColumnReaders(column)
      if (readers.length === 0) {
        withoutReader.push(label)
        continue
      }
      await t.test(label, async () => {
        const { failures, isWritten } = await tryValues({ world, tables, lines, column, readers })
        if (!isWritten) withoutRow.push(label)
        assert.deepEqual(failures, [])
      })
    }
    await t.test('and each column is read by a request', () => {
      assert.deepEqual(
        withoutReader.filter((label) => !isKnown(unread, label)),
        [],
      )
    })
    await t.test('and each table has a row', () => {
      assert.deepEqual(
        withoutRow.filter((label) => !isKnown(empty, label)),
        [],
      )
    })
  })
})

const isKnown = (reasons: Record<string, string>, label: string) =>
  label in reasons || (label.split('.')[0] ?? '') in reasons

interface Tried {
  world: World
  tables: Tables
  lines: string[]
  column: Column
  readers: Reader[]
}

/** Returns which request failed under which value, and whether any row could hold a value. */
async function tryValues({ world, tables, lines, column, readers }: Tried) {
  const failures: string[] = []
  let isWritten = false
  for (const [value, sql] of Object.entries(listValues(column))) {
    if ((await overwrite(world.app, column, sql)) === 0) continue
    isWritten = true
    lines.length = 0
    for (const { name, request, changes, ...usual } of readers) {
      const { status } = await request().catch((error: unknown) => ({ status: String(error) }))
      const isUsual = Number(status) < 500 || status === usual.status
      if (!isUsual) failures.push(`${value}: ${status} from ${name}`)
      await tables.restore(changes)
      if (changes.includes(column.table)) await overwrite(world.app, column, sql)
    }
    await tables.restoreAll()
    // The log looks the table's name up first.
    if (isLeftOut(column, value) && !lines.some((line) => line.includes('left out'))) {
      failures.push(`${value}: no warning`)
    }
  }
  return { failures, isWritten }
}

/** Every column with JSON holds objects or lists. */
const isLeftOut = ({ type }: Column, value: string) => /^jsonb?$/.test(type) && value === 'text'
