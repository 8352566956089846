/**
 * A sign-in that a browser began with `bind_browser=true` is finished by that browser or by nobody
 * (docs/decisions/2026-11-21-browser-bound-state.md). Whoever held the callback's address could finish it anywhere.
 */
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { suite, type TestContext, test } from 'node:test'

import {
  describe,
  type ExternalServer,
  externalServer,
  proven,
  providerEnv,
} from '../support/external.ts'
import { newAddress } from '../support/people.ts'

const secure = { AUTH_API_EXTERNAL_URL: 'https://auth.example' }
const ann = () => proven(newAddress(), String(Math.floor(Math.random() * 1e9)))

interface Begun {
  /** `name=value`, as a browser sends it back. */
  cookie: string | undefined
  attributes: string[]
  provider: URL
  params: Record<string, string>
}

/** From our door to the provider's, and what the provider sends the browser back with. */
async function begin(
  { app, fakes }: ExternalServer,
  query: Record<string, string>,
): Promise<Begun> {
  const sent = await app.inject(
    `/authorize?${new URLSearchParams({ provider: 'github', ...query })}`,
  )
  assert.equal(sent.statusCode, 302, sent.body)
  const provider = new URL(String(sent.headers.location))
  const back = await fetch(provider, { redirect: 'manual' })
  assert.equal(back.status, 302, fakes.github.complaints.join())
  const params = Object.fromEntries(new URL(back.headers.get('location') ?? '').searchParams)
  const [cookie, ...attributes] = [sent.headers['set-cookie']].flat().join().split(/; */)
  return { cookie: cookie || undefined, attributes, provider, params }
}

async function comeBack({ app }: ExternalServer, params: Record<string, string>, cookie?: string) {
  const headers = cookie === undefined ? {} : { cookie }
  const response = await app.inject({ url: `/callback?${new URLSearchParams(params)}`, headers })
  const location = new URL(String(response.headers.location))
  const hash = new URLSearchParams(location.hash.slice(1))
  return {
    signedIn: hash.has('access_token'),
    error: location.searchParams.get('error_code'),
    cleared: /Max-Age=0/i.test(String(response.headers['set-cookie'])),
  }
}

suite('a sign-in that is bound to its browser', () => {
  const start = async (t: TestContext, env: Record<string, string> = {}) => {
    const server = await externalServer(t, { env: { ...secure, ...env } })
    describe(server.fakes, 'github', ann())
    return server
  }

  test('gets a cookie that no script reads and no other site sends along', async (t) => {
    const server = await start(t)
    const { cookie = '', attributes, params } = await begin(server, { bind_browser: 'true' })
    assert.match(
      cookie,
      new RegExp(`^__Host-postern-flow-${params.state?.slice(0, 8)}=[\\w-]{43}$`),
    )
    const wanted = ['HttpOnly', 'Secure', 'Path=/', 'SameSite=Lax', 'Max-Age=300']
    assert.deepEqual(attributes.toSorted(), wanted.toSorted())
  })

  test('goes along from another site where the provider sends the browser back by a form', async (t) => {
    const apple = { ...providerEnv('apple', ''), AUTH_EXTERNAL_APPLE_SECRET: 'jwt' }
    const { app } = await start(t, apple)
    const sent = await app.inject('/authorize?provider=apple&bind_browser=true')
    assert.equal(sent.statusCode, 302, sent.body)
    assert.match(String(sent.headers['set-cookie']), /; SameSite=None; .*; Secure$/)
  })

  test('tells nobody the value: not the provider, not the database', async (t) => {
    const server = await start(t)
    const { cookie = '', provider } = await begin(server, { bind_browser: 'true' })
    const value = cookie.split('=')[1] ?? ''
    assert.ok(value)
    const hash = createHash('sha256').update(value)
    assert.ok(!provider.searchParams.has('bind_browser'))
    const rows = JSON.stringify(await server.app.db.selectFrom('flow_state').selectAll().execute())
    for (const secret of [value, hash.copy().digest('hex'), hash.digest('base64url')]) {
      assert.ok(!provider.href.includes(secret) && !rows.includes(secret))
    }
  })

  test('ends in that browser, and the cookie with it', async (t) => {
    const server = await start(t)
    const { cookie, params } = await begin(server, { bind_browser: 'true' })
    const answer = await comeBack(server, params, `other=1; ${cookie}; more=2`)
    assert.deepEqual(answer, { signedIn: true, error: null, cleared: true })
  })

  test('ends nowhere else, and still in that browser afterwards', async (t) => {
    const server = await start(t)
    const mine = await begin(server, { bind_browser: 'true' })
    const theirs = await begin(server, { bind_browser: 'true' })
    const name = mine.cookie?.split('=')[0]
    const wrong = [
      undefined,
      '',
      theirs.cookie,
      `${name}=`,
      `${name}=${'A'.repeat(43)}`,
      `${name}=${theirs.cookie?.split('=')[1]}`,
      `${mine.cookie}x`,
      mine.cookie?.toLowerCase(),
    ]
    for (const cookie of wrong) {
      const { signedIn, error } = await comeBack(server, mine.params, cookie)
      assert.deepEqual({ signedIn, error }, { signedIn: false, error: 'bad_oauth_state' }, cookie)
    }
    assert.ok((await comeBack(server, mine.params, mine.cookie)).signedIn)
  })

  test('is not asked of clients that do not ask for it', async (t) => {
    const server = await start(t)
    for (const query of [{}, { bind_browser: 'false' }]) {
      const { cookie, params } = await begin(server, query)
      assert.equal(cookie, undefined)
      assert.ok((await comeBack(server, params, '__Host-postern-flow-x=y')).signedIn)
    }
  })

  test('is every sign-in with AUTH_EXTERNAL_BIND_BROWSER=always', async (t) => {
    const server = await start(t, { AUTH_EXTERNAL_BIND_BROWSER: 'always' })
    const { cookie, params } = await begin(server, { bind_browser: 'false' })
    assert.equal((await comeBack(server, params)).error, 'bad_oauth_state')
    assert.ok((await comeBack(server, params, cookie)).signedIn)
  })

  test('works over plain http in development, without what browsers refuse there', async (t) => {
    const server = await start(t, { AUTH_API_EXTERNAL_URL: 'http://auth.example' })
    const { cookie = '', attributes, params } = await begin(server, { bind_browser: 'true' })
    assert.match(cookie, /^postern-flow-/)
    assert.ok(!attributes.includes('Secure'))
    assert.ok((await comeBack(server, params, cookie)).signedIn)
  })
})
