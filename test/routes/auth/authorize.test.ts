/** GET /authorize: the request sent to the provider, the stored flow, and requests rejected before the redirect. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { externalServer, providerEnv } from '../../support/external.ts'
import { emailedToken } from '../../support/messages/mail-journeys.ts'
import { unconfirmedUser } from '../../support/users.ts'

const challenge = 'a'.repeat(43)

suite('GET /authorize', () => {
  test('redirects to the provider and stores the flow', async (t) => {
    const env = { AUTH_URI_ALLOW_LIST: 'https://*.app.test/**' }
    const { app } = await externalServer(t, { env })
    const { db, encryption } = app

    async function send(query: string, headers: Record<string, string> = {}) {
      const response = await app.inject({ url: `/authorize?provider=GitHub&${query}`, headers })
      assert.equal(response.statusCode, 302, response.body)
      const url = new URL(String(response.headers.location))
      const state = url.searchParams.get('state') ?? ''
      const row = await db
        .selectFrom('flow_state')
        .selectAll()
        .where('id', '=', state)
        .executeTakeFirstOrThrow()
      return { response, url, row, requested: Object.fromEntries(url.searchParams) }
    }

    await t.test('sends the parameters in order and sets no cookie', async () => {
      const { response, url, requested } = await send('')
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
      assert.equal(requested.scope, 'user:email')
      assert.equal(response.headers['set-cookie'], undefined)
      assert.equal(response.headers['referrer-policy'], 'no-referrer')
    })

    await t.test(
      'stores the flow secrets encrypted and the provider name in lower case',
      async () => {
        const { row, url } = await send('')
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
      'appends scopes to the default ones': [
        'scopes=repo,gist%20read:org',
        { scope: 'user:email repo gist read:org' },
      ],
      'replaces the default scopes by scope': ['scope=only', { scope: 'only' }],
      'passes provider parameters on': [
        'prompt=consent&login_hint=ann%40ex.test&access_type=offline',
        { prompt: 'consent', login_hint: 'ann@ex.test', access_type: 'offline' },
      ],
      'passes the first value of a repeated parameter': [
        'prompt=one&prompt=two',
        { prompt: 'one' },
      ],
      'passes the hosted provider on': ['workos_provider=okta', { provider: 'okta' }],
      'does not pass protocol parameters on': [
        'client_id=evil&Redirect_Uri=https://evil.test&STATE=s&response_type=token&client_secret=x&request=jwt',
        {
          client_id: 'client 1',
          Redirect_Uri: undefined,
          STATE: undefined,
          response_type: 'code',
          client_secret: undefined,
          request: undefined,
        },
      ],
    }
    for (const [title, [query, expected]] of Object.entries(passed)) {
      await t.test(title, async () => {
        const { requested } = await send(query)
        for (const [name, value] of Object.entries(expected)) {
          assert.equal(requested[name], value, name)
        }
      })
    }

    const site = 'http://app.example'
    const targets: Record<string, [string, Record<string, string>, string]> = {
      'to the site URL without redirect_to': ['', {}, site],
      'to an allowed redirect_to': [
        'redirect_to=https://a.app.test/x?y=1',
        {},
        'https://a.app.test/x?y=1',
      ],
      'to the site URL for a redirect_to that is not allowed': [
        'redirect_to=https://evil.test',
        {},
        site,
      ],
      'to the redirect_to header before the query': [
        'redirect_to=https://a.app.test/',
        { redirect_to: 'https://b.app.test/' },
        'https://b.app.test/',
      ],
      'to an allowed Referer': ['', { referer: 'https://c.app.test/p' }, 'https://c.app.test/p'],
    }
    for (const [title, [query, headers, target]] of Object.entries(targets)) {
      await t.test(`returns ${title}`, async () => {
        assert.equal((await send(query, headers)).row.referrer, target)
      })
    }

    await t.test('stores the code challenge of a PKCE client', async () => {
      const { row } = await send(`code_challenge=${challenge}&code_challenge_method=S256`)
      assert.equal(row.code_challenge, challenge)
      assert.equal(row.code_challenge_method, 's256')
    })

    const wrong: Record<string, [string, number, string]> = {
      'a missing provider': ['', 400, 'validation_failed'],
      'an unknown provider': ['provider=unknown', 400, 'validation_failed'],
      'a disabled provider': ['provider=google', 400, 'validation_failed'],
      'a challenge without a method': [
        `provider=github&code_challenge=${challenge}`,
        400,
        'validation_failed',
      ],
      'a challenge that is too short': [
        'provider=github&code_challenge=abc&code_challenge_method=s256',
        ...([400, 'validation_failed'] as const),
      ],
      'an unknown challenge method': [
        `provider=github&code_challenge=${challenge}&code_challenge_method=s512`,
        ...([400, 'validation_failed'] as const),
      ],
      'an invalid invitation token': [
        'provider=github&invite_token=0123456789',
        ...([404, 'user_not_found'] as const),
      ],
    }
    for (const [title, [query, status, code]] of Object.entries(wrong)) {
      await t.test(`rejects ${title} with a JSON error`, async () => {
        const response = await app.inject(`/authorize?${query}`)
        assert.equal(response.statusCode, status)
        assert.equal(response.json().error_code, code)
        assert.equal(response.headers.location, undefined)
      })
    }

    await t.test('returns 405 for POST', async () => {
      const response = await app.inject({ method: 'POST', url: '/authorize?provider=github' })
      assert.equal(response.statusCode, 405)
    })
  })

  test('stores an invitation token encrypted and does not send it to the provider', async (t) => {
    const server = await externalServer(t)
    const { app } = server
    const token = emailedToken((await unconfirmedUser(server, 'ann@ex.test')).message)
    const response = await app.inject(`/authorize?provider=github&invite_token=${token}`)
    assert.equal(response.statusCode, 302)
    assert.ok(!String(response.headers.location).includes(token))
    const rows = await app.db.selectFrom('flow_state').selectAll().execute()
    assert.equal(rows.length, 1)
    assert.ok(!JSON.stringify(rows).includes(token))
  })

  test('returns 400 before the redirect when the provider is misconfigured', async (t) => {
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
