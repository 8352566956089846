/** `npm run clients`, next to a running server. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { run } from '../../cli/clients/index.ts'
import { cloneDatabase } from '../support/database.ts'
import {
  callbackUrl,
  oauthServer,
  ownConsentPage,
  refreshTokens,
  signInClient,
} from '../support/oauth-server.ts'
import { callCommand, commandEnvironment } from '../support/processes/command-call.ts'
import { build } from '../support/server.ts'
import { signUpUser } from '../support/users.ts'

suite('npm run clients', () => {
  test('creates, lists and shows a client that can sign users in immediately', async (t) => {
    const { app, command } = await open(t)
    assert.equal((await command('list')).stdout, '0 clients\n')
    const created = await command('create', '--name', 'Wiki', '--redirect', callbackUrl)
    assert.equal(created.code, 0, created.stderr)
    assert.match(created.stderr, /only shown now/)
    const client = JSON.parse(created.stdout)
    assert.match(client.client_secret, /^[\w-]{43}$/)
    const tokens = await signInClient(app, client, await signUpUser(app), { scope: 'openid' })
    assert.ok(tokens.id_token)
    const listed = (await command('list')).stdout
    assert.ok(listed.includes(`${client.client_id}  confidential  Wiki  ${callbackUrl}`), listed)
    const shown = JSON.parse((await command('show', client.client_id)).stdout)
    assert.equal(shown.client_secret, undefined)
    assert.equal(shown.client_name, 'Wiki')
  })

  test('creates a client with every option', async (t) => {
    const { command } = await open(t)
    const name = ['--name', 'Wiki']
    const args = ['--redirect', callbackUrl, '--redirect', 'http://127.0.0.1/cb', '--public']
    const more = ['--scope', 'openid email', '--resource', 'https://mcp.example']
    const logout = ['--logout', 'https://app.example/bye', '--grant', 'authorization_code']
    const client = JSON.parse(
      (await command('create', ...name, ...args, ...more, ...logout)).stdout,
    )
    assert.equal(client.client_type, 'public')
    assert.equal(client.client_secret, undefined)
    assert.deepEqual(client.redirect_uris, [callbackUrl, 'http://127.0.0.1/cb'])
    assert.deepEqual(client.grant_types, ['authorization_code'])
    assert.deepEqual(client.resources, ['https://mcp.example'])
    assert.deepEqual(client.post_logout_redirect_uris, ['https://app.example/bye'])
    const plain = ['--redirect', callbackUrl, '--no-pkce', '--auth', 'client_secret_post']
    const posting = JSON.parse((await command('create', ...name, ...plain)).stdout)
    assert.equal(posting.require_pkce, false)
    assert.equal(posting.token_endpoint_auth_method, 'client_secret_post')
  })

  test('replaces a secret and revokes the sessions unless they are to be kept', async (t) => {
    const { app, command } = await open(t)
    const client = JSON.parse(
      (await command('create', '--name', 'Wiki', '--redirect', callbackUrl)).stdout,
    )
    const tokens = await signInClient(app, client, await signUpUser(app))
    const { client_id: id } = client
    const kept = await command('regenerate-secret', id, '--keep-sessions')
    const { client_secret } = JSON.parse(kept.stdout)
    assert.notEqual(client_secret, client.client_secret)
    const renewed = { ...client, client_secret }
    const refreshed = await refreshTokens(app, renewed, tokens.refresh_token)
    assert.equal(refreshed.statusCode, 200, refreshed.body)
    const replaced = JSON.parse((await command('regenerate-secret', id)).stdout)
    const current = { ...client, client_secret: replaced.client_secret }
    const ended = await refreshTokens(app, current, refreshed.json().refresh_token)
    assert.equal(ended.json().error_code, 'refresh_token_not_found')
  })

  test('deletes a client with its sessions, and records every change', async (t) => {
    const { app, command } = await open(t)
    const client = JSON.parse(
      (await command('create', '--name', 'Wiki', '--redirect', callbackUrl)).stdout,
    )
    const tokens = await signInClient(app, client, await signUpUser(app))
    assert.equal((await command('delete', client.client_id)).code, 0)
    const rejected = await refreshTokens(app, client, tokens.refresh_token)
    assert.equal(rejected.json().error, 'invalid_client')
    const rows = await app.db.selectFrom('audit_log_entries').select('payload').execute()
    const actions = rows.map(({ payload }) => payload.action)
    assert.ok(actions.includes('oauth_client_created'))
    assert.ok(actions.includes('oauth_client_deleted'))
  })

  test('reports each error with an explanation', async (t) => {
    const { command } = await open(t)
    for (const args of [[], ['x'], ['create', 'x'], ['show'], ['list', 'x']]) {
      const { code, stderr } = await command(...args)
      assert.deepEqual([code, /^Usage:/.test(stderr)], [1, true], args.join(' '))
    }
    const unknown = crypto.randomUUID()
    for (const name of ['show', 'delete', 'regenerate-secret']) {
      assert.equal((await command(name, unknown)).code, 1, name)
      assert.match((await command(name, 'x')).stderr, /UUID/)
    }
    const wrong = await command('create', '--name', 'Wiki', '--redirect', 'javascript://x/')
    assert.match(wrong.stderr, /redirect_uris/)
    for (const name of [[], ['--name', ' ']]) {
      const unnamed = await command('create', ...name, '--redirect', callbackUrl)
      assert.deepEqual([unnamed.code, unnamed.stdout], [1, ''])
      assert.match(unnamed.stderr, /^Give the client a name: --name NAME/)
    }
    assert.equal((await command('list')).stdout, '0 clients\n')
  })

  async function open(t: Parameters<typeof build>[0]) {
    const database = await cloneDatabase()
    const { app } = await build(t, { database, env: ownConsentPage })
    const env = { ...commandEnvironment, ...oauthServer, DATABASE_URL: database.url }
    return { app, command: (...args: string[]) => callCommand(run, args, env) }
  }
})
