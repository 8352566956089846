/** `npm run scim` next to a running server. */
import assert from 'node:assert/strict'
import { suite, type TestContext, test } from 'node:test'

import { run } from '../../cli/scim.ts'
import { encryptionKey } from '../support/config.ts'
import { cloneDatabase } from '../support/database.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { newOrganization, scimOn } from '../support/scim/clients.ts'
import { build } from '../support/server.ts'

suite('npm run scim', () => {
  async function beside(t: TestContext) {
    const database = await cloneDatabase()
    const { app } = await build(t, { database, env: scimOn })
    const env = {
      ...commandEnvironment,
      ...scimOn,
      AUTH_ENCRYPTION_KEY: encryptionKey,
      DATABASE_URL: database.url,
    }
    const command = (...args: string[]) => callCommand(run, args, env)
    const printed = async (...args: string[]) => {
      const { code, stdout, stderr } = await command(...args)
      assert.equal(code, 0, stderr)
      return stdout.trim()
    }
    const organization = await newOrganization(app, 'corp.test')
    const [id = ''] = (await printed('add', 'Corp', 'organization', organization)).split(' ')
    const status = async (token: string) => {
      const headers = { authorization: `Bearer ${token}` }
      return (await app.inject({ url: `/scim/v2/${id}/Users`, headers })).statusCode
    }
    return { command, printed, id, status }
  }

  test('adds a connection with a token that a running server accepts, and lists both', async (t) => {
    const { printed, id, status } = await beside(t)
    assert.match(
      await printed('list'),
      new RegExp(`^${id}  enabled  Corp  http\\S+/scim/v2/${id}$`),
    )
    assert.equal(await printed('tokens', id), 'The connection has no token.')

    const token = await printed('token', id, 'okta', '8760h')

    assert.match(
      await printed('tokens', id),
      /^\S+ {2}\S+… {2}valid until \S+Z {2}never used {2}okta$/,
    )
    assert.equal(await status(token), 200)
    assert.equal(await status(`${token}x`), 401)
    assert.doesNotMatch(await printed('tokens', id), new RegExp(token))
  })

  test('revokes a token, and no other one, immediately', async (t) => {
    const { printed, id, status } = await beside(t)
    const first = await printed('token', id, 'first')
    const second = await printed('token', id, 'second')
    const line = (await printed('tokens', id)).split('\n').find((found) => /first$/.test(found))

    await printed('revoke', id, line?.split(' ')[0] ?? '')

    assert.deepEqual([await status(first), await status(second)], [401, 200])
    assert.match(await printed('tokens', id), /revoked .* first$/m)
  })

  test('removes a connection', async (t) => {
    const { printed, id } = await beside(t)
    await printed('remove', id)
    assert.equal(await printed('list'), 'There is no SCIM connection.')
  })

  test('rejects unknown connections, tokens and arguments', async (t) => {
    const { command, id } = await beside(t)
    const unknown = crypto.randomUUID()
    const wrong = [
      ['add', 'Corp', 'organization', unknown],
      ['add', 'Corp', 'team', unknown],
      ['remove', unknown],
      ['tokens', unknown],
      ['token', unknown, 'okta'],
      ['token', id, 'okta', 'soon'],
      ['revoke', id, unknown],
      ['list', 'x'],
      ['x'],
    ]
    for (const args of wrong) assert.equal((await command(...args)).code, 1, args.join(' '))
  })
})
