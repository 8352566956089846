/** Every JavaScript block of the documentation is run as it is written, against a server as `npm run dev` starts it. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { before, suite, type TestContext, test } from 'node:test'

import { createClient } from '@supabase/supabase-js'
import { Webhook } from 'standardwebhooks'

import { readSigningKeys, signedHeaders } from '../../plugins/outgoing/hooks/signature.ts'
import { totpCode } from '../support/factors/factors.ts'
import { startDevelopmentServer } from '../support/processes/development-server.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { serviceRole } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { startOpenidProvider } from '../support/providers/openid-provider.ts'
import type { App } from '../support/server.ts'
import { newAddress } from '../support/users.ts'
import { injected } from '../support/web3/browser-wallets.ts'
import { ethereumWallet } from '../support/web3/wallets.ts'
import { documentedUrl, pagesWithBlocks, readBlocks, run } from './javascript-blocks/blocks.ts'

const password = 'correct horse'
const site = 'https://app.example.com'
const webhookSecret = 'whsec_bm90aGluZyBidXQgdGhpcnR5LXR3byBieXRlcyE='

/** `next` returns the next block of the page; each must be used. */
type Journey = (next: () => string, t: TestContext) => Promise<void>

suite('JavaScript blocks', () => {
  const ending = endingOfSuite()
  let app: App
  let url = ''

  before(async () => {
    ;({ app, url } = await startDevelopmentServer(ending, (port) => ({
      AUTH_EXTERNAL_GOOGLE_ENABLED: 'true',
      AUTH_EXTERNAL_GOOGLE_CLIENT_ID: 'id',
      AUTH_EXTERNAL_GOOGLE_SECRET: 'secret',
      AUTH_SITE_URL: site,
      AUTH_EXTERNAL_WEB3_ETHEREUM_ENABLED: 'true',
      AUTH_EXTERNAL_GOOGLE_REDIRECT_URI: `http://127.0.0.1:${port}/callback`,
    })))
  })

  const journeys: Record<string, Journey> = {
    async 'README.md'(next) {
      const signUp = next()
      const signIn = next()
      const printed: unknown[] = []
      const console = { log: (line: unknown) => printed.push(line) }
      const names = await run(signUp, { console })
      const mail = await mailTo('bea@example.com')
      await fetch(String(mail.links[0]), { redirect: 'manual' })
      await run(signIn, names)
      assert.deepEqual(printed, ['bea@example.com'])
    },

    async 'docs/coming-from-supabase.md'(next) {
      const whole = next()
      const alone = next()
      const { error, data } = await run(whole, {})
      assert.equal(error, null)
      assert.ok(Object(data).user)
      assert.ok(Object((await run(alone, {})).auth).signUp)
    },

    async 'docs/custom-providers.md'(next, t) {
      const { issuer } = await startOpenidProvider(t, { claimsInIdToken: true, https: true })
      const supabase = createClient(url, await serviceRole())
      const block = next()
        .replace('https://id.acme.example', issuer)
        .replace('await supabase.auth.signIn', 'const outcome = await supabase.auth.signIn')
      const { error, outcome } = await run(block, { supabase })
      assert.equal(error, null)
      const sent = await fetch(Object(outcome).data.url, { redirect: 'manual' })
      const location = new URL(sent.headers.get('location') ?? '')
      assert.equal(location.origin, new URL(issuer).origin)
      assert.equal(location.searchParams.get('client_id'), 'my-client')
    },

    async 'docs/email-flows.md'(next) {
      const { supabase, email } = await signedIn()
      await app.pool.query(`update auth.sessions set created_at = now() - interval '1 hour'`)
      const enroll = () => supabase.auth.mfa.enroll({ factorType: 'totp' })
      assert.equal((await enroll()).error?.code, 'reauthentication_needed')
      const mailed = async () => (await mailTo(email)).code
      const typed = next().replace("nonce: '123456'", 'nonce: await mailed()')
      await run(typed, { supabase, mailed })
      const { data } = await supabase.auth.getUser()
      assert.equal(data.user?.factors?.length, 1)
    },

    async 'docs/hooks.md'(next) {
      const verify = next()
      const secret = `v1,${webhookSecret}`
      const body = JSON.stringify({ user: { id: '1' }, email_data: { token: '123456' } })
      const keys = readSigningKeys([secret])
      const headers = signedHeaders(keys, { id: 'msg_1', body, now: new Date() })
      const process = { env: { HOOK_SECRET: secret } }
      const { user, email_data } = await run(verify, { process, body, headers })
      assert.deepEqual([user, email_data], [{ id: '1' }, { token: '123456' }])
      const wrong = { ...headers, 'webhook-signature': 'v1,AAAA' }
      await assert.rejects(run(verify, { process, body, headers: wrong }))
    },

    async 'docs/languages.md'(next) {
      const block = next()
      const { supabase } = await signedIn()
      const email = newAddress()
      await run(block, { supabase, email, password })
      const { data } = await supabase.auth.getUser()
      assert.equal(data.user?.user_metadata.locale, 'ja')
      assert.match((await mailTo(email)).subject ?? '', /[éêè]|[Cc]onfirmez/)
    },

    async 'docs/mfa.md'(next) {
      const enrol = next()
      const stepUp = next()
      const { supabase, email } = await signedIn()
      const typed = enrol.replace("code: '123456'", 'code: getCode(factor.totp.secret)')
      const { factor, error } = await run(typed, { supabase, getCode: totpCode })
      assert.equal(error, null)
      await supabase.auth.signInWithPassword({ email, password })
      await run(stepUp, { supabase, code: totpCode(Object(factor).totp.secret, 1) })
      const { data } = await supabase.auth.mfa.getAuthenticatorAssuranceLevel()
      assert.equal(data?.currentLevel, 'aal2')
    },

    async 'docs/recovery-codes.md'(next) {
      const generate = next()
      const verify = next()
      const client = await atAal2({ experimental: { recoveryCodes: true } })
      const createClient = (...[, , options]: unknown[]) => {
        assert.deepEqual(options, { auth: { experimental: { recoveryCodes: true } } })
        return client
      }
      const { data: made, error } = await run(generate, { createClient, url, key: 'anon' })
      assert.equal(error, null)
      const { codes } = Object(made)
      assert.equal(codes.length, 10)
      const email = (await client.auth.getUser()).data.user?.email ?? assert.fail()
      await client.auth.signInWithPassword({ email, password })
      await run(verify, { supabase: client, code: codes[0] })
      const { data: level } = await client.auth.mfa.getAuthenticatorAssuranceLevel()
      assert.equal(level?.currentLevel, 'aal2')
    },

    async 'docs/tutorial-google.md'(next) {
      const block = next()
      const { supabase } = connect()
      const signIn = block.replace('await supabase', 'const outcome = await supabase')
      const { outcome } = await run(signIn, { supabase })
      const sent = await fetch(Object(outcome).data.url, { redirect: 'manual' })
      assert.match(sent.headers.get('location') ?? '', /^https:\/\/accounts\.google\.com\//)
    },

    async 'docs/tutorial-servers.md'(next) {
      const block = next()
      const { supabase } = await signedIn()
      const { data } = await supabase.auth.getSession()
      const { payload } = await run(block, {
        token: data.session?.access_token,
        console: { log() {} },
      })
      assert.equal(Object(payload).sub, data.session?.user.id)
      await assert.rejects(run(block, { token: await serviceRole(), console: { log() {} } }))
    },

    async 'docs/tutorial-testing.md'(next) {
      const block = next()
      const names = await run(block, {})
      const email = newAddress()
      await connect().supabase.auth.signUp({ email, password })
      const found = await run('const mail = await mailTo(email)', { ...names, email })
      for (const field of ['links', 'code', 'subject', 'text', 'html']) {
        assert.ok(Object(found.mail)[field], field)
      }
    },

    async 'docs/tutorial-webhooks.md'(next, t) {
      const block = next()
      const servers: Server[] = []
      const load = async (module: string) => {
        if (module !== 'node:http') return import(module)
        const started = (...args: Parameters<typeof createServer>) => {
          const server = createServer(...args)
          servers.push(server)
          return server
        }
        return { createServer: started }
      }
      const printed: unknown[] = []
      const console = { log: (...line: unknown[]) => printed.push(line.join(' ')) }
      const process = { env: { SECRET: webhookSecret } }
      await run(block.replace('listen(4000)', "listen(0, '127.0.0.1')"), { load, console, process })
      const [server] = servers
      assert.ok(server)
      t.after(() => server.close())
      if (!server.listening) await once(server, 'listening')
      const address = server.address()
      assert.ok(typeof address === 'object' && address)
      const body = JSON.stringify({ type: 'user.created', data: { user_id: '1' } })
      const receive = (headers: Record<string, string>) =>
        fetch(`http://127.0.0.1:${address.port}`, { method: 'POST', body, headers })
      assert.equal((await receive(signed(body))).status, 204)
      assert.deepEqual(printed, ['user.created 1'])
      const wrong = { ...signed(body), 'webhook-signature': 'v1,AAAA' }
      assert.equal((await receive(wrong)).status, 400)
    },

    async 'docs/wallets.md'(next) {
      const { supabase } = connect()
      // In a browser, the SDK finds both on `window`.
      const inBrowser = { wallet: injected(ethereumWallet()), options: { url: site } }
      const signInWithWeb3 = (credentials: { chain: 'ethereum'; statement: string }) =>
        supabase.auth.signInWithWeb3({ ...credentials, ...inBrowser })
      const { data, error } = await run(next(), { supabase: { auth: { signInWithWeb3 } } })
      assert.equal(error, null)
      assert.ok(Object(data).session)
    },

    async 'docs/webhooks.md'(next) {
      const block = next()
      const verify = block.replace('whsec_...', webhookSecret)
      const body = JSON.stringify({ type: 'user.created' })
      const { event } = await run(verify, { body, headers: signed(body) })
      assert.deepEqual(event, { type: 'user.created' })
    },
  }

  for (const [page, journey] of Object.entries(journeys)) {
    test(`runs the JavaScript blocks of ${page} as described`, async (t) => {
      const blocks = readBlocks(page).map((block) => block.replaceAll(documentedUrl, url))
      await journey(() => blocks.shift() ?? assert.fail('the page has no further block'), t)
      assert.deepEqual(blocks, [])
    })
  }

  test('are on no other page except those that another test runs', () => {
    // test/browser/passkeys.test.ts and authjs.test.ts run these.
    const inBrowsers = ['docs/passkeys.md', 'docs/oauth-clients/authjs.md']
    // test/docs/sso-and-mcp-blocks.test.ts runs these.
    const besideProviders = [
      'docs/sso.md',
      'docs/oauth-clients/mcp.md',
      'docs/oauth-clients/openid-client.md',
    ]
    // test/docs/framework-guides.test.ts runs these.
    const guides = ['nextjs', 'sveltekit', 'nuxt', 'expo'].map((name) => `docs/guide-${name}.md`)
    const tried = [...Object.keys(journeys), ...inBrowsers, ...besideProviders, ...guides]
    assert.deepEqual(pagesWithBlocks(), tried.toSorted())
  })

  function connect(options = {}) {
    return {
      supabase: createClient(url, 'anon', { auth: { autoRefreshToken: false, ...options } }),
    }
  }

  async function signedIn(options = {}) {
    const { supabase } = connect(options)
    const email = newAddress()
    const headers = { authorization: `Bearer ${await serviceRole()}` }
    const payload = { email, password, email_confirm: true }
    await app.inject({ method: 'POST', url: '/admin/users', headers, payload })
    const { error } = await supabase.auth.signInWithPassword({ email, password })
    assert.equal(error, null)
    return { supabase, email }
  }

  async function atAal2(options = {}) {
    const { supabase } = await signedIn(options)
    const { data: factor } = await supabase.auth.mfa.enroll({ factorType: 'totp' })
    assert.ok(factor)
    const code = totpCode(factor.totp.secret)
    const { error } = await supabase.auth.mfa.challengeAndVerify({ factorId: factor.id, code })
    assert.equal(error, null)
    return supabase
  }

  async function mailTo(address: string) {
    const found = () => app.devInbox?.list().find(({ to }) => to === address)
    await until(async () => found() !== undefined)
    return found() ?? assert.fail()
  }
})

function signed(body: string): Record<string, string> {
  const now = new Date()
  return {
    'webhook-id': 'msg_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
    'webhook-signature': new Webhook(webhookSecret).sign('msg_1', now, body),
  }
}
