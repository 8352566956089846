import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, suite, type TestContext, test } from 'node:test'

import { binaries } from '../../dev/postgres/binaries.ts'
import { start } from '../../dev/postgres/cluster.ts'
import { openFolder } from '../../dev/postgres/folder.ts'
import { startPostgres } from '../../dev/postgres/index.ts'
import { PostgresStartError } from '../../dev/postgres/start-error.ts'
import { query } from '../db/sql.ts'
import { until } from '../support/processes/until.ts'

const log = { info() {} }
const homes: string[] = []
const isRoot = process.getuid?.() === 0

suite('startPostgres', () => {
  // For tests that need no empty folder: initdb takes most of the time.
  const used = newFolder()
  after(() => homes.forEach(removeFolder))

  test('keeps data, password and port, and starts again', async (t) => {
    const dir = used
    const first = await startPostgres({ dir, log })
    await query(first.url, 'create table kept as select 1 as one')
    await first.stop()
    await first.stop()

    const second = await startPostgres({ dir, log, settings: { work_mem: '7MB' } })
    t.after(second.stop)

    assert.equal(second.url, first.url)
    assert.deepEqual(await query(second.url, 'table kept'), [{ one: 1 }])
    assert.deepEqual(await query(second.url, 'show work_mem'), [{ work_mem: '7MB' }])
    assert.deepEqual(await query(second.url, 'show listen_addresses'), [
      { listen_addresses: '127.0.0.1' },
    ])
  })

  test('rejects a second instance on the same folder', async (t) => {
    const dir = used
    const first = await startPostgres({ dir, log })
    t.after(first.stop)

    await assert.rejects(startPostgres({ dir, log }), (error) => {
      assert.ok(error instanceof PostgresStartError)
      assert.match(error.message, /^The folder .* is in use by another copy \(process \d+\): stop/)
      return true
    })

    assert.deepEqual(await query(first.url, 'select 1 as one'), [{ one: 1 }])
  })

  test('explains the alternatives on a machine without embedded Postgres', (t) => {
    t.mock.property(process, 'arch', 'riscv64')
    assert.throws(() => binaries(undefined), {
      name: 'PostgresStartError',
      message:
        /^There is no embedded Postgres for \w+-riscv64 here: .*npm run dev -- --database-url URL/,
    })
  })

  test('rejects a folder that cannot be created', async () => {
    const file = join(newFolder(), '..', 'file')
    writeFileSync(file, '')

    await assert.rejects(startPostgres({ dir: join(file, 'postgres'), log }), (error) => {
      assert.ok(error instanceof PostgresStartError)
      assert.match(error.message, /^The folder .* cannot be used .*: let this user write to it/)
      return true
    })
  })

  test('starts after the previous run was killed', async (t) => {
    const dir = used
    const { child, url } = await startInChildProcess(t, dir, 'wait')
    await query(url, 'create table survivor as select 1 as one')
    child.kill('SIGKILL')
    await gone(url)
    await startOrphan(dir, new URL(url).port)
    assert.ok(await query(url, 'select 1'), 'the orphan runs')

    const messages: string[] = []
    const next = await startPostgres({ dir, log: { info: (message) => messages.push(message) } })
    t.after(next.stop)

    assert.match(String(messages), /Stopped the Postgres of an earlier run/)
    assert.deepEqual(await query(next.url, 'table survivor'), [{ one: 1 }])
  })

  test('leaves Ctrl-C to the process that started it', async (t) => {
    const { child, url } = await startInChildProcess(t, used, 'ignore Ctrl-C')

    assert.ok(child.stdout)
    const reported = once(createInterface(child.stdout), 'line')
    process.kill(-Number(child.pid), 'SIGINT')

    assert.deepEqual(await reported, ['still here'])
    assert.deepEqual(await query(url, 'select 1 as one'), [{ one: 1 }])
  })

  for (const ending of ['stop', 'exit']) {
    test(`leaves no process after ${ending}`, async (t) => {
      const { url } = await startInChildProcess(t, used, ending)
      await gone(url)
    })
  }

  test('leaves no process when the folder was emptied before the shutdown', async () => {
    const { url, stop } = await startPostgres({ dir: used, log })
    rmSync(join(used, 'cluster', 'postmaster.pid'))
    await stop()
    await gone(url)
  })

  test('starts in a folder that only root can enter', {
    skip: !isRoot && 'needs root',
  }, async (t) => {
    const dir = newFolder()
    chmodSync(join(dir, '..', '..'), 0o700)

    const first = await startPostgres({ dir, log })
    await query(first.url, 'create table kept as select 1 as one')
    await first.stop()
    const second = await startPostgres({ dir, log })
    t.after(second.stop)

    assert.deepEqual(await query(second.url, 'table kept'), [{ one: 1 }])
  })
})

/** `<new folder>/data/postgres`, the last part not created yet. */
function newFolder(): string {
  const home = mkdtempSync(join(tmpdir(), 'postern-folder-'))
  homes.push(home)
  chmodSync(home, 0o711)
  mkdirSync(join(home, 'data'))
  return join(home, 'data', 'postgres')
}

function removeFolder(home: string): void {
  const dir = join(home, 'data', 'postgres')
  // It may be a link to a place that Postgres can reach.
  if (existsSync(dir)) rmSync(realpathSync(dir), { recursive: true, force: true })
  rmSync(home, { recursive: true, force: true })
}

async function startInChildProcess(t: TestContext, dir: string, ending: string) {
  const script = join(import.meta.dirname, 'start-postgres.ts')
  const child: ChildProcess = spawn(process.execPath, [script, dir, ending], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  t.after(async () => {
    child.kill('SIGKILL')
    // It holds the folder until then.
    await ended
    // A test that has started it again stops it itself.
    const cleaner = await startPostgres({ dir, log }).catch(() => undefined)
    await cleaner?.stop()
  })
  assert.ok(child.stdout)
  for await (const line of createInterface(child.stdout)) {
    if (line.startsWith('postgres')) return { child, url: line }
  }
  throw new Error('it printed no URL')
}

/** An orphaned Postgres, as after its owner and all watchers were killed. */
async function startOrphan(dir: string, port: string): Promise<void> {
  const folder = openFolder(dir)
  await until(() => !existsSync(join(folder.cluster, 'postmaster.pid')))
  const network = { listen_addresses: '127.0.0.1', port, unix_socket_directories: '' }
  await start({ folder, bin: binaries(folder.account) }, network)
}

async function gone(url: string): Promise<void> {
  await until(
    async () => {
      const error = await query(url, 'select 1').catch((error: { code?: string }) => error)
      return 'code' in error && error.code === 'ECONNREFUSED'
    },
    { missing: 'Postgres still answers' },
  )
}
