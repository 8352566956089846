/** Each admin endpoint of the API document against each kind of client. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { SignJWT } from 'jose'

import { endingOfSuite } from '../../support/processes/ending.ts'
import { call, statusAndCode } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'
import {
  adminCreatedUser,
  autoconfirm,
  newAddress,
  password,
  signedIn,
  signUpUser,
} from '../../support/users.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
interface Endpoint {
  method: Method
  url: string
}
interface Requester {
  headers: () => Promise<Record<string, string>> | Record<string, string>
  answer: [number, string]
}

const hour = 3600
const otherSecret = 'another secret that is long enough to be one'
const iss = 'http://auth.example'

suite('admin endpoints', () => {
  const ending = endingOfSuite()
  let app: App
  let secret: string
  let endpoints: Endpoint[]
  let userToken: string
  before(async () => {
    const env = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true', AUTH_CONSOLE_ENABLED: 'true' }
    const built = await build(ending, { env })
    app = built.app
    secret = built.config.AUTH_JWT_SECRET
    endpoints = await findEndpoints(app)
    userToken = (await signedIn(app, (await newUser(app)).email)).access_token
  })

  test('include the endpoints called by SDKs', () => {
    const known = endpoints.map(({ method, url }) => `${method} ${url.replaceAll(id, '{id}')}`)
    for (const expected of [
      'GET /admin/users',
      'POST /admin/users',
      'GET /admin/users/{id}',
      'PUT /admin/users/{id}',
      'DELETE /admin/users/{id}',
      'GET /admin/users/{id}/factors',
      'DELETE /admin/users/{id}/factors/{id}',
      'POST /admin/generate_link',
      'GET /admin/audit',
      'POST /invite',
    ]) {
      assert.ok(known.includes(expected), expected)
    }
  })

  const attackers: Record<string, Requester> = {
    'a request without a token': { headers: () => ({}), answer: [401, 'no_authorization'] },
    'a request with an empty token': {
      headers: () => ({ authorization: 'Bearer ' }),
      answer: [401, 'no_authorization'],
    },
    'a request with another scheme': {
      headers: async () => ({ authorization: `Basic ${await token({ role: 'service_role' })}` }),
      answer: [401, 'no_authorization'],
    },
    'a request with the token as apikey only': {
      headers: async () => ({ apikey: await token({ role: 'service_role' }) }),
      answer: [401, 'no_authorization'],
    },
    'a malformed token': { headers: () => bearer('service_role'), answer: [403, 'bad_jwt'] },
    anon: {
      headers: async () => bearer(await token({ role: 'anon' })),
      answer: [403, 'not_admin'],
    },
    'a token without a role': {
      headers: async () => bearer(await token({})),
      answer: [403, 'not_admin'],
    },
    'a user token': { headers: () => bearer(userToken), answer: [403, 'not_admin'] },
    'a role in app_metadata': {
      headers: async () => {
        const claims = { role: 'authenticated', app_metadata: { role: 'service_role' } }
        return bearer(await token(claims))
      },
      answer: [403, 'not_admin'],
    },
    'a role in another case': {
      headers: async () => bearer(await token({ role: 'Service_Role' })),
      answer: [403, 'not_admin'],
    },
    'an impersonated session': {
      headers: async () => bearer(await token({ role: 'service_role', act: { sub: 'x' } })),
      answer: [403, 'not_admin'],
    },
    'an expired admin token': {
      headers: async () => bearer(await token({ role: 'service_role' }, -hour)),
      answer: [403, 'bad_jwt'],
    },
    'a token with a wrong signature': {
      headers: async () => bearer(await token({ role: 'service_role' }, hour, otherSecret)),
      answer: [403, 'bad_jwt'],
    },
    'an unsigned token': {
      headers: () => bearer(`${encode({ alg: 'none' })}.${encode({ role: 'service_role' })}.`),
      answer: [403, 'bad_jwt'],
    },
    'an admin whose session was revoked': {
      headers: async () => {
        const { id: sub } = await newUser(app)
        const claims = { iss, role: 'service_role', sub, session_id: crypto.randomUUID() }
        return bearer(await token(claims))
      },
      answer: [403, 'session_not_found'],
    },
    'a deleted admin': {
      headers: async () => {
        const claims = { iss, role: 'service_role', sub: id, session_id: crypto.randomUUID() }
        return bearer(await token(claims))
      },
      answer: [403, 'user_not_found'],
    },
  }
  for (const [name, { headers, answer: reply }] of Object.entries(attackers)) {
    test(`reject ${name}`, async () => {
      for (const endpoint of endpoints) {
        const response = await send(endpoint, await headers())
        const got = [response.statusCode, response.json().error_code]
        assert.deepEqual(got, reply, `${endpoint.method} ${endpoint.url}: ${response.body}`)
      }
    })
  }

  for (const role of ['service_role', 'supabase_admin', 'platform_admin']) {
    test(`accept ${role}`, async () => {
      for (const endpoint of endpoints) {
        const response = await send(endpoint, bearer(await token({ role })))
        const isIn = response.statusCode !== 401 && response.statusCode !== 403
        assert.ok(isIn, `${endpoint.method} ${endpoint.url}: ${response.body}`)
        assert.ok(response.statusCode < 500, response.body)
      }
    })
  }

  test('accept a token that another program signed with AUTH_JWT_SECRET', async (t) => {
    const { app: configured } = await build(t, { env: { AUTH_JWT_SECRET: otherSecret } })
    const asked = async (secret: string) => {
      const headers = bearer(await token({ role: 'service_role' }, hour, secret))
      return (await configured.inject({ url: '/admin/users', headers })).statusCode
    }
    assert.equal(await asked(otherSecret), 200)
    assert.equal(await asked(`${otherSecret}!`), 403)
  })

  test('accept only the roles of AUTH_JWT_ADMIN_ROLES', async (t) => {
    const { app: strict, config } = await build(t, { env: { AUTH_JWT_ADMIN_ROLES: 'root' } })
    const asked = async (role: string) => {
      const headers = bearer(await token({ role }, hour, config.AUTH_JWT_SECRET))
      return (await strict.inject({ url: '/admin/users', headers })).statusCode
    }
    assert.equal(await asked('root'), 200)
    assert.equal(await asked('service_role'), 403)
  })

  test('allow invitations by service_role and platform_admin users without admin role', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_JWT_ADMIN_ROLES: 'root' } })
    for (const role of ['service_role', 'platform_admin']) {
      const { user, email } = await signUpUser(app)
      await app.db.updateTable('users').set({ role }).where('id', '=', user.id).execute()
      const { access_token: token } = await signedIn(app, email)
      const invited = await call(app, '/invite', { email: newAddress() }, { token })
      assert.deepEqual(statusAndCode(invited), [200, ''], role)
      const list = await call(app, '/admin/users', undefined, { token })
      assert.deepEqual(statusAndCode(list), [403, 'not_admin'], role)
    }
  })

  function send({ method, url }: Endpoint, headers: Record<string, string>) {
    const payload = method === 'GET' || method === 'DELETE' ? undefined : {}
    return app.inject({ method, url, headers, ...(payload && { payload }) })
  }

  function token(claims: object, seconds = hour, key = secret): Promise<string> {
    return new SignJWT({ ...claims })
      .setProtectedHeader({ alg: 'HS256' })
      .setExpirationTime(Math.floor(Date.now() / 1000) + seconds)
      .sign(new TextEncoder().encode(key))
  }
})

/** Replaces each id in a path: no row has it. */
const id = '11111111-1111-4111-8111-111111111111'

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

async function findEndpoints(app: App): Promise<Endpoint[]> {
  const description = await app.inject('/openapi.json')
  const { paths } = description.json<{ paths: Record<string, object> }>()
  return Object.entries(paths)
    .filter(([path]) => path.startsWith('/admin/') || path === '/invite')
    .flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({
        method: method.toUpperCase() as Method,
        url: path.replaceAll(/\{\w+\}/g, id),
      })),
    )
}

function newUser(app: App) {
  return adminCreatedUser(app, { email: newAddress(), email_confirm: true, password })
}
