/** The fields that the specification names, in the answers and requests it names them for. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { specifiedProviders } from '../../scripts/specification.ts'
import { adminCall } from '../support/admin.ts'
import { landing, open } from '../support/mail-journeys.ts'
import { codeIn } from '../support/mail-links.ts'
import {
  confirmedPerson,
  newAddress,
  newNumber,
  signIn,
  signUp,
  unconfirmedPerson,
} from '../support/people.ts'
import { sharedSmsServer } from '../support/phone-journeys.ts'
import { call, changeUser, getUser, refresh } from '../support/requests.ts'
import { type Built, build } from '../support/server.ts'

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
type Answer = (server: Built, person: Session, email: string) => Promise<object>

const confirmation = async (server: Built, email: string) =>
  (await unconfirmedPerson(server, email)).message

const answers: Record<string, { fields: Fields; ask: Answer }> = {
  'POST /signup by email': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, ...times },
    ask: async ({ app }, _person, email) => (await signUp(app, { email })).json(),
  },
  'POST /signup by phone': {
    fields: { id: uuid, phone: /^1555\d{7}$/, confirmation_sent_at: moment, ...times },
    ask: async ({ app }) => (await signUp(app, { phone: `+${newNumber()}` })).json(),
  },
  'POST /invite': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, invited_at: moment, ...times },
    ask: ({ app }, _person, email) => adminCall<object>(app, 'POST', '/invite', { email }),
  },
  'GET /user': {
    fields: { id: uuid, email: /@/, confirmation_sent_at: moment, ...times },
    ask: async ({ app }, person) => (await getUser(app, person)).json(),
  },
  'PUT /user with another address': {
    fields: { id: uuid, email: /@/, email_change_sent_at: moment, ...times },
    ask: async ({ app }, { access_token }, email) =>
      (await changeUser(app, access_token, { email })).json(),
  },
  'PUT /user with another number': {
    fields: { id: uuid, phone_change_sent_at: moment, ...times },
    ask: async ({ app }, { access_token }) =>
      (await changeUser(app, access_token, { phone: `+${newNumber()}` })).json(),
  },
  'POST /token?grant_type=password': {
    fields: session,
    ask: async ({ app }, { user }) => (await signIn(app, { email: user.email })).json(),
  },
  'POST /token?grant_type=refresh_token': {
    fields: session,
    ask: async ({ app }, { refresh_token }) => (await refresh(app, refresh_token)).json(),
  },
  'POST /verify': {
    fields: { ...session, type: /^signup$/ },
    async ask(server, _person, email) {
      const code = codeIn(await confirmation(server, email))
      return (await call(server.app, '/verify', { type: 'signup', email, token: code })).json()
    },
  },
  'GET /verify, in the fragment': {
    fields: { ...session, type: /^signup$/ },
    async ask(server, _person, email) {
      return landing(await open(server.app, await confirmation(server, email))).fragment
    },
  },
  'POST /resend': {
    fields: { message_id: uuid },
    async ask(server, _person, email) {
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
    ask: ({ app }, { user }) => {
      const body = { type: 'magiclink', email: user.email }
      return adminCall<object>(app, 'POST', '/admin/generate_link', body)
    },
  },
}

suite('documented fields', () => {
  const server = sharedSmsServer()

  for (const [request, { fields, ask }] of Object.entries(answers)) {
    test(`${request} answers with ${Object.keys(fields).join(', ')}`, async () => {
      const built = await server()
      const answer = await ask(built, await confirmedPerson(built), newAddress())
      const found = new Map(Object.entries(answer))
      for (const [name, form] of Object.entries(fields)) {
        assert.match(String(found.get(name)), form, name)
      }
      assert.doesNotMatch(JSON.stringify(answer), /correct horse|"password"|\$argon2/)
    })
  }

  test('an error has an integer code and a msg', async () => {
    const { app } = await server()
    const response = await signUp(app, { email: 'nobody' })
    const { code, msg } = response.json()
    assert.deepEqual([response.statusCode, code, typeof msg], [400, 400, 'string'])
  })

  test('GET /settings has a boolean for each of the eighteen providers', async () => {
    const { app } = await server()
    const { external, disable_signup, autoconfirm } = (await call(app, '/settings')).json()
    for (const name of specifiedProviders) assert.equal(external[name], false, name)
    assert.deepEqual([disable_signup, autoconfirm], [false, false])
  })

  test('GET /settings says whether second factors can be added', async (t) => {
    const off = { AUTH_MFA_TOTP_ENROLL_ENABLED: 'false' }
    const phone = { ...off, AUTH_MFA_PHONE_ENROLL_ENABLED: 'true' }
    const cases: [Record<string, string>, boolean][] = [
      [{}, true],
      [off, false],
      [phone, true],
    ]
    for (const [env, isOn] of cases) {
      const { app } = await build(t, { env })
      assert.equal((await call(app, '/settings')).json().mfa_enabled, isOn, JSON.stringify(env))
    }
  })

  test('GET /settings says what is switched on', async (t) => {
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
  })

  test('GET /health confirms that the service runs', async () => {
    const { app } = await server()
    assert.equal((await call(app, '/health')).statusCode, 200)
  })

  for (const [path, body] of [
    ['/otp', { create_user: true }],
    ['/magiclink', {}],
    ['/recover', {}],
  ] as const) {
    test(`POST ${path} answers with an empty object`, async () => {
      const { app } = await server()
      assert.deepEqual((await call(app, path, { email: newAddress(), ...body })).json(), {})
    })
  }
})

/** As GoTrue writes them; those that are empty are left out. */
const orderOfUser = [
  ...['id', 'aud', 'role', 'email', 'email_confirmed_at', 'invited_at', 'phone'],
  ...['phone_confirmed_at', 'confirmation_sent_at', 'confirmed_at', 'recovery_sent_at'],
  ...['new_email', 'email_change_sent_at', 'new_phone', 'phone_change_sent_at'],
  ...['reauthentication_sent_at', 'last_sign_in_at', 'app_metadata', 'user_metadata'],
  ...['factors', 'identities', 'created_at', 'updated_at', 'banned_until', 'deleted_at'],
  'is_anonymous',
]

suite('the fields of a person', () => {
  test('are in one order, whoever asks', async (t) => {
    const server = await build(t)
    const person = await confirmedPerson(server)
    const { app } = server
    await changeUser(app, person.access_token, { email: newAddress() })
    const own = (await getUser(app, person)).json<object>()
    const admins = await adminCall<object>(app, 'GET', `/admin/users/${person.user.id}`)
    for (const answer of [person.user, own, admins]) {
      const fields = Object.keys(answer)
      assert.ok(fields.length >= 12)
      assert.deepEqual(
        fields,
        orderOfUser.filter((field) => fields.includes(field)),
      )
    }
  })
})
