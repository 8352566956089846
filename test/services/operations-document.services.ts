/** Each command block of docs/operations.md, as written and in order, on a database with users. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite, type TestContext, test } from 'node:test'
import { parseEnv } from 'node:util'

import { query } from '../db/sql.ts'
import { encryptionKey } from '../support/config.ts'
import { startServerProcess } from '../support/processes/server-process.ts'
import { password } from '../support/users.ts'
import { bin, startPostgresServer } from './postgres.ts'
import { createFolder, missing } from './programs.ts'

const skip = missing('psql', 'bash') || (!bin && 'not installed: Postgres')
const root = join(import.meta.dirname, '../..')

const settings = {
  AUTH_DB_DRIVER: 'postgres',
  AUTH_JWT_SECRET: 'only-for-tests-and-long-enough-to-pass',
  AUTH_ENCRYPTION_KEY: encryptionKey,
  AUTH_API_EXTERNAL_URL: 'http://auth.example',
  AUTH_SITE_URL: 'http://app.example',
  AUTH_MAILER_AUTOCONFIRM: 'true',
}

suite('docs/operations.md', { skip }, () => {
  test('commands run in order and keep the users', async (t) => {
    const { url, run, env } = await startDrill(t)
    const before = await startServerProcess(t, { ...settings, DATABASE_URL: url })
    const users = ['ann@example.com', 'bob@example.com']
    for (const email of users) assert.equal((await post(before.url, '/signup', email)).status, 200)

    const blocks = readBlocks(await readFile(join(root, 'docs/operations.md'), 'utf8'))
    assert.ok(blocks.length >= 8, `${blocks.length} blocks`)
    const { code, output } = await run(blocks.map(toShell).join('\n'))
    assert.equal(code, 0, output)
    assert.match(output, /^(pass|warn|fail) .*database/im)
    assert.match(output, /Restored \(users: 2\)/)
    assert.match(output, /\d+ rows re-encrypted/)

    // The previous key is removed, and the file’s key decrypts the restored database.
    const after = await env()
    assert.notEqual(after.AUTH_ENCRYPTION_KEY, encryptionKey)
    assert.equal(after.AUTH_ENCRYPTION_NEXT_KEY, undefined)
    const restored = new URL(url)
    restored.pathname = '/postern_restored'
    const server = await startServerProcess(t, { ...after, DATABASE_URL: restored.href })
    for (const email of users) {
      const response = await post(server.url, '/token?grant_type=password', email)
      assert.equal(response.status, 200, email)
    }
    // The previous database is unchanged.
    const [row] = await query(url, 'select count(*)::int as sessions from auth.sessions')
    assert.deepEqual(row, { sessions: 2 })
  })
})

interface Block {
  language: string
  text: string
}

function readBlocks(document: string): Block[] {
  return [...document.matchAll(/^```(\w+)\n(.*?)^```$/gms)].map(([, language = '', text = '']) => ({
    language,
    text,
  }))
}

function toShell({ language, text }: Block, index: number): string {
  const begun = `echo "block ${index + 1}"`
  if (language === 'sh') return `${begun}\n${tolerant(text)}`
  assert.equal(language, 'sql', 'blocks are commands of a shell or statements')
  return `${begun}\npsql "$DATABASE_URL" --set ON_ERROR_STOP=1 <<'STATEMENTS'\n${text}STATEMENTS`
}

/** The doctor may report checks that fail on this machine. */
function tolerant(commands: string): string {
  return commands.replace(/^npm run doctor$/m, 'npm run doctor || [ $? -eq 1 ]')
}

/** A folder like an operator’s: this program with its .env. */
async function startDrill(t: TestContext) {
  const postgres = await startPostgresServer(t)
  const folder = createFolder(t)
  for (const name of await readdir(root)) {
    if (!/^(\.|test$)/.test(name)) await symlink(join(root, name), join(folder, name))
  }
  const file = join(folder, '.env')
  const values = { ...settings, DATABASE_URL: postgres.url }
  await writeFile(
    file,
    Object.entries(values)
      .map(([name, value]) => `${name}=${value}\n`)
      .join(''),
  )

  async function run(script: string): Promise<{ code: number | null; output: string }> {
    const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-s'], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, DATABASE_URL: postgres.url },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    child.stdin.end(script)
    const [out, err, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close'),
    ])
    return { code, output: `${out}\n${err}` }
  }

  return {
    url: postgres.url,
    run,
    async env(): Promise<Record<string, string>> {
      const read = parseEnv(await readFile(file, 'utf8'))
      return Object.fromEntries(Object.entries(read).map(([name, value]) => [name, value ?? '']))
    },
  }
}

function post(url: string, path: string, email: string): Promise<Response> {
  return fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email, password }),
  })
}
