/** JSON that other programs wrote: a value of another kind is left out, named in the log, and never means more access. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { sql } from 'kysely'

import type { User } from '../../schemas/user.ts'
import { adminCall, asAdmin } from '../support/admin.ts'
import {
  answerAuthorization,
  callbackUrl,
  createClient,
  exchangeCode,
  makePkce,
  oauthServer,
  obtainCode,
  requestAuthorization,
  startAuthorization,
} from '../support/oauth-server.ts'
import { call, changeUser, getUser, statusAndCode } from '../support/requests.ts'
import { type App, build } from '../support/server.ts'
import { bodyOf200, signIn, signUpUser } from '../support/users.ts'

const env = { ...oauthServer, AUTH_CUSTOM_OAUTH_ENABLED: 'true', AUTH_CONSOLE_ENABLED: 'true' }
const others = ['null', '"text"', '["a", null, {}]']

const write = (app: App, table: string, column: string, json: string) =>
  sql`update auth.${sql.raw(table)} set ${sql.raw(column)} = ${json}::text::jsonb`.execute(app.db)

const warnings = (lines: string[]) =>
  lines.flatMap((line) => {
    const { level, table, column, found } = JSON.parse(line)
    return level === 'warn' && column ? [`${table}.${column}: ${found}`] : []
  })

suite('JSON of other programs', () => {
  for (const preparesStatements of ['true', 'false']) {
    test(`is left out of users, with prepared statements ${preparesStatements}`, async (t) => {
      const lines: string[] = []
      const AUTH_DB_PREPARED_STATEMENTS = preparesStatements
      const { app } = await build(t, { env: { ...env, AUTH_DB_PREPARED_STATEMENTS }, lines })
      const session = await signUpUser(app)
      for (const json of others) {
        await write(app, 'identities', 'identity_data', json)
        await write(app, 'users', 'raw_app_meta_data', json)
        await write(app, 'users', 'raw_user_meta_data', json)
        // Twice: the first time, Postgres describes the statement.
        for (const _ of [1, 2]) {
          const user: User = bodyOf200(await getUser(app, session))
          assert.deepEqual([user.app_metadata, user.user_metadata], [{}, {}])
          assert.equal(user.identities?.[0]?.identity_data, undefined)
        }
        const { users } = await adminCall<{ users: User[] }>(app, 'GET', '/admin/users')
        assert.deepEqual(users[0]?.user_metadata, {})
        bodyOf200(await signIn(app, session))
      }
      const found = new Set(warnings(lines))
      for (const kind of ['another string', 'a list']) {
        assert.ok(found.has(`undefined.identity_data: ${kind}`), [...found].join('\n'))
        assert.ok(found.has(`auth.users.raw_app_meta_data: ${kind}`), [...found].join('\n'))
      }
    })
  }

  test('is replaced by an object when a member is added', async (t) => {
    const { app } = await build(t, { env })
    const session = await signUpUser(app)
    for (const json of others) {
      await write(app, 'users', 'raw_user_meta_data', json)
      await write(app, 'users', 'raw_app_meta_data', json)
      const changed: User = bodyOf200(
        await changeUser(app, session.access_token, { data: { b: 1 } }),
      )
      assert.deepEqual(changed.user_metadata, { b: 1 })
      const path = `/admin/users/${session.user.id}`
      const { app_metadata } = await adminCall(app, 'PUT', path, { app_metadata: { c: 1 } })
      assert.deepEqual(app_metadata, { c: 1 })
    }
  })

  test('is empty in the audit log and its export', async (t) => {
    const { app } = await build(t, { env })
    await signUpUser(app)
    await sql`update auth.audit_log_entries set payload = null`.execute(app.db)
    assert.deepEqual((await asAdmin(app, 'GET', '/admin/audit')).json()[0].payload, {})
    const exported = await asAdmin(app, 'GET', '/admin/audit/export?format=ndjson')
    assert.equal(exported.statusCode, 200)
    assert.ok(JSON.parse(exported.body.split('\n')[0] ?? '').id)
  })

  test('makes a client unknown whose settings it replaces', async (t) => {
    const { app } = await build(t, { env })
    const client = await createClient(app, { scope: 'openid' })
    const { challenge } = makePkce()
    for (const json of others) {
      await write(app, 'postern_oauth_clients', 'settings', json)
      const response = await requestAuthorization(app, {
        client_id: client.client_id,
        redirect_uri: callbackUrl,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        scope: 'openid email',
      })
      assert.equal(response.statusCode, 400, json)
    }
    const path = `/admin/oauth/clients/${client.client_id}`
    assert.equal((await asAdmin(app, 'PUT', path, { scope: 'openid' })).statusCode, 200)
  })

  test('ends an authorization request whose parameters it replaces', async (t) => {
    const { app } = await build(t, { env })
    const user = await signUpUser(app)
    const client = await createClient(app)
    const { access_token: token } = user
    for (const json of others) {
      const { code, verifier } = await obtainCode(app, client, user)
      const { challenge } = makePkce()
      const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
      const id = await startAuthorization(app, client, { ...pkce, prompt: 'consent' })
      await write(app, 'postern_oauth_requests', 'parameters', json)
      const exchange = await exchangeCode(app, client, code, { code_verifier: verifier })
      assert.equal(exchange.json().error, 'invalid_grant', json)
      const details = await call(app, `/oauth/authorizations/${id}`, undefined, { token })
      assert.deepEqual(statusAndCode(details), [404, 'oauth_authorization_not_found'], json)
      await assert.rejects(answerAuthorization(app, id, user))
    }
  })

  test('leaves out a signing key, but rejects the start without the current one', async (t) => {
    const { app, database } = await build(t, { env })
    await asAdmin(app, 'POST', '/admin/keys', { action: 'rotate' })
    const others = sql`update auth.postern_signing_keys set public_jwk = '"text"' where state <> 'current'`
    await others.execute(app.db)
    const again = () => build(t, { env: { ...env, DATABASE_URL: database.url } })
    const { app: second } = await again()
    bodyOf200(await getUser(second, await signUpUser(second)))
    await write(app, 'postern_signing_keys', 'public_jwk', '["a"]')
    await assert.rejects(again(), /postern_signing_keys has no readable public_jwk for the key /)
  })

  test('disables a custom provider whose attribute_mapping it replaces', async (t) => {
    const { app } = await build(t, { env })
    const provider = {
      provider_type: 'oauth2',
      identifier: 'custom:plain',
      name: 'Plain',
      client_id: 'id',
      client_secret: 'secret',
      authorization_url: 'https://8.8.8.8/authorize',
      token_url: 'https://8.8.8.8/token',
      userinfo_url: 'https://8.8.8.8/userinfo',
    }
    await asAdmin(app, 'POST', '/admin/custom-providers', provider)
    assert.equal((await app.inject('/authorize?provider=custom:plain')).statusCode, 302)
    await write(app, 'custom_oauth_providers', 'attribute_mapping', '["sub"]')
    await sql`update auth.custom_oauth_providers set updated_at = now()`.execute(app.db)
    const authorized = await app.inject('/authorize?provider=custom:plain')
    assert.equal(authorized.statusCode, 400, authorized.body)
    const shown = await asAdmin(app, 'GET', '/admin/custom-providers/custom:plain')
    assert.deepEqual(shown.json().attribute_mapping, {})
  })
})
