/** The way to a provider: what is sent there, what is kept here, and what is refused before anybody leaves. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, providerEnv } from '../support/external.ts'
import { tokenOf } from '../support/mail-journeys.ts'
import { unconfirmedPerson } from '../support/people.ts'

const challenge = 'a'.repeat(43)

suite('GET /authorize', () => {
  test('asks the provider', async (t) => {
    const env = { AUTH_URI_ALLOW_LIST: 'https://*.app.test/**' }
    const { app } = await externalServer(t, { env })
    const { db, encryption } = app

    async function ask(query: string, headers: Record<string, string> = {}) {
      const response = await app.inject({ url: `/authorize?provider=GitHub&${query}`, headers })
      assert.equal(response.statusCode, 302, response.body)
      const url = new URL(String(response.headers.location))
      const state = url.searchParams.get('state') ?? ''
      const row = await db
        .selectFrom('flow_state')
        .selectAll()
        .where('id', '=', state)
        .executeTakeFirstOrThrow()
      return { response, url, row, asked: Object.fromEntries(url.searchParams) }
    }

    await t.test('with its parameters in order, and without a cookie', async () => {
      const { response, url, asked } = await ask('')
      assert.deepEqual(
        [...url.searchParams.keys()],
        [
          'client_id',
          'code_challenge',
          'code_challenge_method',
          'redirect_uri',
          'response_type',
          'scope',
          'state',
        ],
      )
      assert.equal(asked.scope, 'user:email')
      assert.equal(response.headers['set-cookie'], undefined)
      assert.equal(response.headers['referrer-policy'], 'no-referrer')
    })

    await t.test(
      'what waits for the callback is encrypted, and the name in lower case',
      async () => {
        const { row, url } = await ask('')
        assert.equal(row.provider_type, 'github')
        assert.equal(row.authentication_method, 'oauth')
        const query = app.db.selectFrom('postern_flows').select('secrets')
        const { secrets: stored } = await query
          .where('flow_id', '=', row.id)
          .executeTakeFirstOrThrow()
        assert.ok(encryption.isEncrypted(stored ?? ''))
        const secrets = JSON.parse(encryption.decrypt(row.id, stored ?? '', 'test'))
        assert.equal(secrets.codeVerifier.length, 43)
        assert.ok(!url.href.includes(secrets.codeVerifier))
        assert.equal(row.auth_code, null)
        assert.equal(row.code_challenge, null)
      },
    )

    const passed: Record<string, [string, Record<string, string | undefined>]> = {
      'more scopes': ['scopes=repo,gist%20read:org', { scope: 'user:email repo gist read:org' }],
      'scope replaces them': ['scope=only', { scope: 'only' }],
      'parameters of the provider': [
        'prompt=consent&login_hint=ann%40ex.test&access_type=offline',
        { prompt: 'consent', login_hint: 'ann@ex.test', access_type: 'offline' },
      ],
      'the first of several': ['prompt=one&prompt=two', { prompt: 'one' }],
      'a hosted provider': ['workos_provider=okta', { provider: 'okta' }],
      'nothing of the protocol': [
        'client_id=evil&Redirect_Uri=https://evil.test&STATE=s&response_type=token&client_secret=x&request=jwt',
        {
          client_id: 'client 1',
          ...{ Redirect_Uri: undefined, STATE: undefined, response_type: 'code' },
          ...{ client_secret: undefined, request: undefined },
        },
      ],
    }
    for (const [title, [query, expected]] of Object.entries(passed)) {
      await t.test(title, async () => {
        const { asked } = await ask(query)
        for (const [name, value] of Object.entries(expected)) assert.equal(asked[name], value, name)
      })
    }

    const site = 'http://app.example'
    const targets: Record<string, [string, Record<string, string>, string]> = {
      'no target': ['', {}, site],
      'a target on the list': [
        'redirect_to=https://a.app.test/x?y=1',
        {},
        'https://a.app.test/x?y=1',
      ],
      'a target that is not': ['redirect_to=https://evil.test', {}, site],
      'the header before the query': [
        'redirect_to=https://a.app.test/',
        { redirect_to: 'https://b.app.test/' },
        'https://b.app.test/',
      ],
      'the page that sent the browser': [
        '',
        { referer: 'https://c.app.test/p' },
        'https://c.app.test/p',
      ],
    }
    for (const [title, [query, headers, target]] of Object.entries(targets)) {
      await t.test(`back to ${title}`, async () => {
        assert.equal((await ask(query, headers)).row.referrer, target)
      })
    }

    await t.test('for a client that waits for a code', async () => {
      const { row } = await ask(`code_challenge=${challenge}&code_challenge_method=S256`)
      assert.equal(row.code_challenge, challenge)
      assert.equal(row.code_challenge_method, 's256')
    })

    const wrong: Record<string, [string, number, string]> = {
      'no provider': ['', 400, 'validation_failed'],
      'an unknown one': ['provider=nobody', 400, 'validation_failed'],
      'one that is off': ['provider=google', 400, 'validation_failed'],
      'half of PKCE': [`provider=github&code_challenge=${challenge}`, 400, 'validation_failed'],
      'a short challenge': [
        'provider=github&code_challenge=abc&code_challenge_method=s256',
        ...([400, 'validation_failed'] as const),
      ],
      'an unknown method': [
        `provider=github&code_challenge=${challenge}&code_challenge_method=s512`,
        ...([400, 'validation_failed'] as const),
      ],
      'an invitation that is none': [
        'provider=github&invite_token=0123456789',
        ...([404, 'user_not_found'] as const),
      ],
    }
    for (const [title, [query, status, code]] of Object.entries(wrong)) {
      await t.test(`refuses ${title}, in JSON`, async () => {
        const response = await app.inject(`/authorize?${query}`)
        assert.equal(response.statusCode, status)
        assert.equal(response.json().error_code, code)
        assert.equal(response.headers.location, undefined)
      })
    }

    await t.test('refuses other methods', async () => {
      const response = await app.inject({ method: 'POST', url: '/authorize?provider=github' })
      assert.equal(response.statusCode, 405)
    })
  })

  test('an invitation stays here, encrypted', async (t) => {
    const server = await externalServer(t)
    const { app } = server
    const token = tokenOf((await unconfirmedPerson(server, 'ann@ex.test')).message)
    const response = await app.inject(`/authorize?provider=github&invite_token=${token}`)
    assert.equal(response.statusCode, 302)
    assert.ok(!String(response.headers.location).includes(token))
    const rows = await app.db.selectFrom('flow_state').selectAll().execute()
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(token))
  })

  test('a provider that cannot be used is told before anybody leaves', async (t) => {
    const env = {
      ...providerEnv('keycloak', 'http://127.0.0.1:9/realm'),
      AUTH_EXTERNAL_KEYCLOAK_ID_TOKEN_ONLY: 'true',
      AUTH_EXTERNAL_KEYCLOAK_SECRET: '',
    }
    const { app } = await externalServer(t, { env })
    const response = await app.inject('/authorize?provider=keycloak')
    const msg = 'This provider is not configured completely'
    assert.deepEqual(response.json(), { code: 400, error_code: 'validation_failed', msg })
  })
})
