/** `npm run admin` next to a running server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { run } from '../../cli/admin/index.ts'
import { withConsole } from '../support/admins.ts'
import { encryptionKey } from '../support/config.ts'
import { consoleBrowser } from '../support/console-browser.ts'
import { cloneDatabase } from '../support/database.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { call } from '../support/requests.ts'
import { build } from '../support/server.ts'
import { confirmAddress, newAddress, password, signedIn, signUpUser } from '../support/users.ts'

suite('npm run admin', () => {
  test('makes an existing user an admin of a running server, lists and removes them', async (t) => {
    const database = await cloneDatabase()
    const { app } = await build(t, { database, env: withConsole })
    const env = {
      ...commandEnvironment,
      AUTH_ENCRYPTION_KEY: encryptionKey,
      DATABASE_URL: database.url,
    }
    const command = (...args: string[]) => callCommand(run, args, env)
    const { email, user } = await signUpUser(app)
    const link = await command('create', email)
    assert.match(link.stdout, /No user has confirmed the address/)
    await confirmAddress(app, user.id)

    const created = await command('create', email)
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stdout, /is an admin with the role owner/)
    assert.match(created.stdout, /AUTH_CONSOLE_ENABLED=true/)
    const { access_token: token } = await signedIn(app, email)
    const me = await call(app, '/admin/me', undefined, { token })
    assert.equal(me.json().role, 'owner')
    assert.match((await command('create', email)).stderr, /already an admin/)
    assert.match((await command('remove', email)).stderr, /the last owner/)
    const listed = await command('list')
    assert.match(listed.stdout, new RegExp(`owner +${email}.*\\n1 admin\\n$`))
  })

  test('prints a link that makes the user of a new address an admin', async (t) => {
    const database = await cloneDatabase()
    const { app } = await build(t, { database, env: withConsole })
    const env = { ...commandEnvironment, AUTH_ENCRYPTION_KEY: encryptionKey }
    const command = (...args: string[]) =>
      callCommand(run, args, { ...env, AUTH_CONSOLE_ENABLED: 'true', DATABASE_URL: database.url })
    const email = newAddress()
    const { stdout } = await command('create', email, '--role', 'support')
    const token = /console#first-admin=([\w-]{43})/.exec(stdout)?.[1] ?? ''
    assert.equal((await command('list')).stdout, '0 admins\n')
    const made = await consoleBrowser(app).redeem({ token, password })
    assert.equal(made.statusCode, 200, made.body)
    assert.match((await command('list')).stdout, new RegExp(`support +${email}`))
    assert.equal((await command('remove', email)).code, 0)
    assert.equal((await command('list')).stdout, '0 admins\n')
  })

  test('rejects an unknown role, an unknown address and too many arguments', async (t) => {
    const database = await cloneDatabase()
    t.after(database.drop)
    const env = { ...commandEnvironment, DATABASE_URL: database.url }
    const calls = [
      ['create', 'ann@example.com', '--role', 'root'],
      ['remove', 'ann@example.com'],
      ['create'],
      ['list', 'x'],
      ['create', 'a@example.com', 'b'],
    ]
    for (const args of calls) {
      assert.equal((await callCommand(run, args, env)).code, 1, args.join(' '))
    }
  })
})
