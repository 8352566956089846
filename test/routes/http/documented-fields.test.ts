/** Fields named in the specification, in the responses it names them for. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../../schemas/session.ts'
import { specifiedProviders } from '../../../scripts/specification.ts'
import { adminCall } from '../../support/admin.ts'
import { open, redirectParams } from '../../support/messages/mail-journeys.ts'
import { codeIn } from '../../support/messages/mail-links.ts'
import { sharedSmsServer } from '../../support/messages/phone-journeys.ts'
import { call, changeUser, getUser, refresh } from '../../support/requests.ts'
import { type Built, build } from '../../support/server.ts'
import {
  confirmedUser,
  newAddress,
  newNumber,
  signIn,
  signUp,
  unconfirmedUser,
} from '../../support/users.ts'

const moment = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/
const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const token = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/

const times = { created_at: moment, updated_at: moment }
const session = {
  access_token: token,
  token_type: /^bearer$/,
  expires_in: /^3600$/,
  refresh_token: /^\S+$/,
}

type Fields = Record<string, RegExp>
type Response = (server: Built, user: Session, email: string) => Promise<object>

const confirmation = async (server: Built, email: string) =>
  (await unconfirmedUser(server, email)).message

const responses: Record<string, { fields: Fields; send: Response }> = {
  'POST /signup by email': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, ...times },
    send: async ({ app }, _user, email) => (await signUp(app, { email })).json(),
  },
  'POST /signup by phone': {
    fields: { id: uuid, phone: /^1555\d{7}$/, confirmation_sent_at: moment, ...times },
    send: async ({ app }) => (await signUp(app, { phone: `+${newNumber()}` })).json(),
  },
  'POST /invite': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, invited_at: moment, ...times },
    send: ({ app }, _user, email) => adminCall<object>(app, 'POST', '/invite', { email }),
  },
  'GET /user': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, ...times },
    send: async ({ app }, user) => (await getUser(app, user)).json(),
  },
  'PUT /user with a new email': {
    fields: { id: uuid, email: /@/, email_change_sent_at: moment, ...times },
    send: async ({ app }, { access_token }, email) =>
      (await changeUser(app, access_token, { email })).json(),
  },
  'PUT /user with a new phone': {
    fields: { id: uuid, phone_change_sent_at: moment, ...times },
    send: async ({ app }, { access_token }) =>
      (await changeUser(app, access_token, { phone: `+${newNumber()}` })).json(),
  },
  'POST /token?grant_type=password': {
    fields: session,
    send: async ({ app }, { user }) => (await signIn(app, { email: user.email })).json(),
  },
  'POST /token?grant_type=refresh_token': {
    fields: session,
    send: async ({ app }, { refresh_token }) => (await refresh(app, refresh_token)).json(),
  },
  'POST /verify': {
    fields: { ...session, type: /^signup$/ },
    async send(server, _user, email) {
      const code = codeIn(await confirmation(server, email))
      return (await call(server.app, '/verify', { type: 'signup', email, token: code })).json()
    },
  },
  'GET /verify': {
    fields: { ...session, type: /^signup$/ },
    async send(server, _user, email) {
      return redirectParams(await open(server.app, await confirmation(server, email))).fragment
    },
  },
  'POST /resend': {
    fields: { message_id: uuid },
    async send(server, _user, email) {
      await confirmation(server, email)
      return (await call(server.app, '/resend', { type: 'signup', email })).json()
    },
  },
  'POST /admin/generate_link': {
    fields: {
      action_link: /^http:\/\/auth\.example\/verify\?token=\w+&type=magiclink&redirect_to=http/,
      email_otp: /^\d{6}$/,
      hashed_token: /^\w+$/,
      verification_type: /^magiclink$/,
      redirect_to: /^http:\/\/app\.example\/?$/,
    },
    send: ({ app }, { user }) => {
      const body = { type: 'magiclink', email: user.email }
      return adminCall<object>(app, 'POST', '/admin/generate_link', body)
    },
  },
}

suite('documented response fields', () => {
  const server = sharedSmsServer()

  for (const [request, { fields, send }] of Object.entries(responses)) {
    test(`${request} returns ${Object.keys(fields).join(', ')}`, async () => {
      const built = await server()
      const response = await send(built, await confirmedUser(built), newAddress())
      const found = new Map(Object.entries(response))
      for (const [name, form] of Object.entries(fields)) {
        assert.match(String(found.get(name)), form, name)
      }
      assert.doesNotMatch(JSON.stringify(response), /correct horse|"password"|\$argon2/)
    })
  }

  test('an error has a numeric code and a msg', async () => {
    const { app } = await server()
    const response = await signUp(app, { email: 'unknown' })
    const { code, msg } = response.json()
    assert.deepEqual([response.statusCode, code, typeof msg], [400, 400, 'string'])
  })

  test('GET /settings lists each provider with a boolean', async () => {
    const { app } = await server()
    const { external, disable_signup, autoconfirm } = (await call(app, '/settings')).json()
    for (const name of specifiedProviders) assert.equal(external[name], false, name)
    assert.deepEqual([disable_signup, autoconfirm], [false, false])
  })

  test('GET /settings reports whether factors can be enrolled', async (t) => {
    const off = { AUTH_MFA_TOTP_ENROLL_ENABLED: 'false' }
    const phone = { ...off, AUTH_MFA_PHONE_ENROLL_ENABLED: 'true' }
    assert.equal((await call((await server()).app, '/settings')).json().mfa_enabled, true)
    const cases: [Record<string, string>, boolean][] = [
      [off, false],
      [phone, true],
    ]
    for (const [env, isOn] of cases) {
      const { app } = await build(t, { env })
      assert.equal((await call(app, '/settings')).json().mfa_enabled, isOn, JSON.stringify(env))
    }
  })

  test('GET /settings reports enabled providers, sign-ups and autoconfirm', async (t) => {
    const github = {
      ENABLED: 'true',
      CLIENT_ID: 'id',
      SECRET: 'word',
      REDIRECT_URI: 'http://a.test/',
    }
    const entries = Object.entries(github).map(([name, value]) => [
      `AUTH_EXTERNAL_GITHUB_${name}`,
      value,
    ])
    const env = {
      ...Object.fromEntries(entries),
      AUTH_DISABLE_SIGNUP: 'true',
      AUTH_MAILER_AUTOCONFIRM: 'true',
    }
    const { app } = await build(t, { env })
    const { external, disable_signup, autoconfirm } = (await call(app, '/settings')).json()
    const on = specifiedProviders.filter((name) => external[name])
    assert.deepEqual([on, disable_signup, autoconfirm], [['github'], true, true])
    const plain = (await call((await server()).app, '/settings')).json()
    assert.deepEqual([plain.disable_signup, plain.autoconfirm], [false, false])
  })

  test('GET /health returns name, version and description', async () => {
    const { app } = await server()
    const response = await call(app, '/health')
    assert.equal(response.statusCode, 200)
    const { version, name, description } = response.json()
    assert.match(version, /^\d+\.\d+\.\d+/)
    assert.deepEqual([name, typeof description], ['Postern', 'string'])
  })

  for (const [path, body] of [
    ['/otp', { create_user: true }],
    ['/magiclink', {}],
    ['/recover', {}],
  ] as const) {
    test(`POST ${path} returns {}`, async () => {
      const { app } = await server()
      assert.deepEqual((await call(app, path, { email: newAddress(), ...body })).json(), {})
    })
  }
})

/** As GoTrue writes them; those that are empty are left out. */
const orderOfUser = [
  'id',
  'aud',
  'role',
  'email',
  'email_confirmed_at',
  'invited_at',
  'phone',
  'phone_confirmed_at',
  'confirmation_sent_at',
  'confirmed_at',
  'recovery_sent_at',
  'new_email',
  'email_change_sent_at',
  'new_phone',
  'phone_change_sent_at',
  'reauthentication_sent_at',
  'last_sign_in_at',
  'app_metadata',
  'user_metadata',
  'factors',
  'identities',
  'created_at',
  'updated_at',
  'banned_until',
  'deleted_at',
  'is_anonymous',
]

suite('user object', () => {
  test('has the same field order on each endpoint', async (t) => {
    const server = await build(t)
    const user = await confirmedUser(server)
    const { app } = server
    await changeUser(app, user.access_token, { email: newAddress() })
    const own = (await getUser(app, user)).json<object>()
    const admins = await adminCall<object>(app, 'GET', `/admin/users/${user.user.id}`)
    for (const response of [user.user, own, admins]) {
      const fields = Object.keys(response)
      assert.ok(fields.length >= 12)
      assert.deepEqual(
        fields,
        orderOfUser.filter((field) => fields.includes(field)),
      )
    }
  })
})
