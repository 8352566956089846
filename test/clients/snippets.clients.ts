/**
 * Each example of the SDK documentation, run as written against a server with the settings of `npm run dev`. Emails,
 * phones, ids and codes are filled in; preconditions are created first.
 */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { before, suite, test } from 'node:test'

import { createClient, type SupabaseClient } from '@supabase/supabase-js'

import { withPresets } from '../../cli/dev/presets.ts'
import { endingOfSuite } from '../support/processes/ending.ts'
import { freePort } from '../support/processes/free-port.ts'
import { serviceRole } from '../support/processes/server-process.ts'
import { until } from '../support/processes/until.ts'
import { type App, build } from '../support/server.ts'
import { documentedSnippets, type Snippet } from './snippets.ts'

/** Examples that do not succeed, by title, explained in docs/coming-from-supabase.md. */
const otherwise: Record<string, RegExp> = {
  'Create an anonymous user with custom user metadata':
    /Cannot access 'data' before initialization/,
  'Generate a signup link': /weak_password/,
  'Sign In using ID Token': /provider_disabled|validation_failed/,
  'Sign in with Ethereum (Message and Signature)': /The message must be 64 to/,
  'Unlink an identity': /identities\.find is not a function/,
  'Fetch the user object using the access_token jwt':
    /must be an UUID|Expected parameter to be UUID/,
}

/** For browsers, wallets or React; test/browser covers the supported ones. */
const other =
  /window\.|useEffect|useWallet|react-native|conditional|ethereum for the wallet|import \{/

/** Faster than any reader. */
const atOnce = { AUTH_SMTP_MAX_FREQUENCY: '0', AUTH_SMS_MAX_FREQUENCY: '0' }

const password = 'example-password'

suite('SDK documentation snippets', () => {
  let app: App
  let url = ''
  let admin: SupabaseClient
  const ending = endingOfSuite()
  before(async () => {
    const port = String(await freePort())
    const presets = withPresets(
      { PORT: port, AUTH_SMTP_HOST: '', AUTH_SMTP_ADMIN_EMAIL: '', ...atOnce },
      {},
    )
    const env = Object.fromEntries(
      Object.entries(presets).map(([name, text]) => [name, text ?? '']),
    )
    app = (await build(ending, { dev: true, env })).app
    url = await app.listen({ host: '127.0.0.1', port: Number(port) })
    admin = connect(await serviceRole())
  })

  for (const snippet of documentedSnippets().filter(({ code }) => !other.test(code))) {
    test(`${snippet.method}: ${snippet.title}`, async () => {
      const outcome = await tried(snippet)
      const expected = otherwise[snippet.title]
      if (expected === undefined) assert.equal(outcome, undefined)
      else assert.match(outcome ?? 'nothing', expected)
    })
  }

  test('docs/coming-from-supabase.md names each snippet that does not succeed', () => {
    const page = readFileSync(
      new URL('../../docs/coming-from-supabase.md', import.meta.url),
      'utf8',
    )
    for (const title of Object.keys(otherwise)) assert.ok(page.includes(title), title)
  })

  function connect(key: string, options = {}): SupabaseClient {
    return createClient(url, key, { auth: { autoRefreshToken: false, ...options } })
  }

  async function tried(snippet: Snippet): Promise<string | undefined> {
    const world = await prepare(snippet)
    // Two declarations of one name are two examples.
    for (const code of world.code.split(
      /\n\n(?=\/\/ generate an email change link to be sent to the new)/,
    )) {
      const outcome = await run(code, world.names)
      if (outcome !== undefined) return outcome
    }
    return undefined
  }

  /** The example with values of its own and its preconditions. */
  async function prepare({ method, title, code: source }: Snippet) {
    const mark = crypto.randomUUID().slice(0, 8)
    const phone = `1555${Math.floor(Math.random() * 1e7)}`.padEnd(11, '0')
    const address = (name: string) => `${name}-${mark}@example.com`
    let code = source
      .replaceAll(/'\+?\d{9,11}'/g, `'${phone}'`)
      .replaceAll(/'([\w.]+)@[\w.]+\.com'/g, (_, name: string) => `'${address(name)}'`)
    const email = /'([^']+@example\.com)'/.exec(code)?.[1] ?? address('reader')
    const isAdmin = method.startsWith('auth.admin')
    const supabase = isAdmin ? admin : connect('anon', { flowType: getFlowType(method) })
    const names: Record<string, unknown> = {
      supabase,
      email,
      phone,
      captchaToken: undefined,
      data: {},
    }

    if (isAdmin && /[0-9a-f]{8}-/.test(code)) {
      const id = await user(address('another'), `${phone}1`.slice(-11))
      code = code.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, id)
    }
    if (/recovery|email_change_/.test(code) && isAdmin) await user(email, phone)
    if (method === 'auth.signInWithPassword') {
      await user(email, phone, /password: '([^']+)'/.exec(code)?.[1])
    }
    if (method === 'auth.verifyOtp' || method === 'auth.exchangeCodeForSession') {
      const isPhone = code.includes('phone')
      await supabase.auth.signInWithOtp(isPhone ? { phone } : { email })
      const message = await next(isPhone ? `+${phone}` : email)
      names.token = message.code
      names.tokenHash = new URL(message.link || url).searchParams.get('token')
      if (method === 'auth.exchangeCodeForSession') {
        const opened = await fetch(message.link, { redirect: 'manual' })
        names.requestUrl = new URL(opened.headers.get('location') ?? '')
        names.code = new URL(opened.headers.get('location') ?? '').searchParams.get('code')
        code = code.replace(/'[0-9a-f-]{36}'/, `'${names.code}'`)
      }
    }
    if (needsSession(method, title)) Object.assign(names, await signIn(supabase, mark))
    if (title === 'Resend an email signup confirmation') {
      await supabase.auth.signUp({ email, password })
    }
    if (title === 'Resend a phone signup confirmation') {
      await supabase.auth.signUp({ phone, password })
    }
    if (title === 'Resend email change email') await supabase.auth.updateUser({ email })
    if (title === 'Resend phone change OTP') await supabase.auth.updateUser({ phone })
    if (title.includes('nonce') && method === 'auth.updateUser') {
      await supabase.auth.reauthenticate()
      code = code.replace('123456', (await next(address('signed-in'))).code)
    }
    return { code, names }
  }

  async function user(email: string, phone: string, secret = password): Promise<string> {
    const { data, error } = await admin.auth.admin.createUser({
      email,
      phone,
      password: secret,
      email_confirm: true,
      phone_confirm: true,
    })
    assert.equal(error, null)
    return data.user?.id ?? ''
  }

  async function signIn({ auth }: SupabaseClient, mark: string) {
    const email = `signed-in-${mark}@example.com`
    await user(email, `1666${Math.floor(Math.random() * 1e7)}`.padEnd(11, '0'))
    const { data } = await auth.signInWithPassword({ email, password })
    const { access_token, refresh_token } = data.session ?? assert.fail('no user is signed in')
    return { access_token, refresh_token, jwt: access_token }
  }

  /** The newest message to an email or phone, once there is one. */
  async function next(to: string) {
    const found = () => app.devInbox?.list().find((message) => message.to === to)
    await until(async () => found() !== undefined)
    const { code, links } = found() ?? assert.fail()
    return { code: code ?? '', link: links[0] ?? '' }
  }
})

function getFlowType(method: string) {
  return method === 'auth.exchangeCodeForSession' ? 'pkce' : 'implicit'
}

function needsSession(method: string, title: string): boolean {
  const ofUsers =
    /^auth\.(reauthenticate|getUser|updateUser|setSession|refreshSession|signOut|getUserIdentities|unlinkIdentity|getClaims|getSession)$/
  return (
    ofUsers.test(method) ||
    title.startsWith('Resend email change') ||
    title.startsWith('Resend phone change')
  )
}

const AsyncFunction: FunctionConstructor = Object.getPrototypeOf(async () => {}).constructor

/** The error; undefined without one. */
async function run(code: string, names: Record<string, unknown>): Promise<string | undefined> {
  const isVerified = /\berror\b/.test(code)
  const body = new AsyncFunction(
    ...Object.keys(names),
    `{ ${code}\n${isVerified ? 'return error' : ''} }`,
  )
  try {
    const error: unknown = await body(...Object.values(names))
    if (!(error instanceof Error)) return undefined
    return `${'code' in error ? error.code : ''} ${error.message}`
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}
