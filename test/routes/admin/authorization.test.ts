/** Every admin endpoint there is, found in the API's own description, against everybody who might ask. */
import assert from 'node:assert/strict'
import { before, suite, test } from 'node:test'

import { SignJWT } from 'jose'

import { endingOfSuite } from '../../support/ending.ts'
import {
  autoconfirm,
  createdPerson,
  newAddress,
  newPerson,
  password,
  signedIn,
} from '../../support/people.ts'
import { call, outcomeOf } from '../../support/requests.ts'
import { type App, build } from '../../support/server.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
interface Endpoint {
  method: Method
  url: string
}
interface Asker {
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
  let personToken: string
  before(async () => {
    const env = { AUTH_ADMIN_IMPERSONATION_ENABLED: 'true' }
    const built = await build(ending, { env })
    app = built.app
    secret = built.config.AUTH_JWT_SECRET
    endpoints = await findEndpoints(app)
    personToken = (await signedIn(app, (await somebody(app)).email)).access_token
  })

  test('are found: at least those that SDKs know', () => {
    const known = endpoints.map(({ method, url }) => `${method} ${url.replaceAll(id, '{id}')}`)
    for (const wanted of [
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
      assert.ok(known.includes(wanted), wanted)
    }
  })

  const strangers: Record<string, Asker> = {
    'nobody without a token': { headers: () => ({}), answer: [401, 'no_authorization'] },
    'an empty token': {
      headers: () => ({ authorization: 'Bearer ' }),
      answer: [401, 'no_authorization'],
    },
    'another scheme': {
      headers: async () => ({ authorization: `Basic ${await token({ role: 'service_role' })}` }),
      answer: [401, 'no_authorization'],
    },
    'the token as apikey only': {
      headers: async () => ({ apikey: await token({ role: 'service_role' }) }),
      answer: [401, 'no_authorization'],
    },
    'no JWT': { headers: () => bearer('service_role'), answer: [403, 'bad_jwt'] },
    anon: {
      headers: async () => bearer(await token({ role: 'anon' })),
      answer: [403, 'not_admin'],
    },
    'no role': { headers: async () => bearer(await token({})), answer: [403, 'not_admin'] },
    'an ordinary person': { headers: () => bearer(personToken), answer: [403, 'not_admin'] },
    'a role in the metadata': {
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
    'a borrowed session': {
      headers: async () => bearer(await token({ role: 'service_role', act: { sub: 'x' } })),
      answer: [403, 'not_admin'],
    },
    'an expired admin': {
      headers: async () => bearer(await token({ role: 'service_role' }, -hour)),
      answer: [403, 'bad_jwt'],
    },
    'a wrong signature': {
      headers: async () => bearer(await token({ role: 'service_role' }, hour, otherSecret)),
      answer: [403, 'bad_jwt'],
    },
    'no signature': {
      headers: () => bearer(`${encode({ alg: 'none' })}.${encode({ role: 'service_role' })}.`),
      answer: [403, 'bad_jwt'],
    },
    'an admin whose session has ended': {
      headers: async () => {
        const { id: sub } = await somebody(app)
        const claims = { iss, role: 'service_role', sub, session_id: crypto.randomUUID() }
        return bearer(await token(claims))
      },
      answer: [403, 'session_not_found'],
    },
    'an admin who is gone': {
      headers: async () => {
        const claims = { iss, role: 'service_role', sub: id, session_id: crypto.randomUUID() }
        return bearer(await token(claims))
      },
      answer: [403, 'user_not_found'],
    },
  }
  for (const [name, { headers, answer }] of Object.entries(strangers)) {
    test(`refuse ${name}`, async () => {
      for (const endpoint of endpoints) {
        const response = await ask(endpoint, await headers())
        const got = [response.statusCode, response.json().error_code]
        assert.deepEqual(got, answer, `${endpoint.method} ${endpoint.url}: ${response.body}`)
      }
    })
  }

  for (const role of ['service_role', 'supabase_admin', 'platform_admin']) {
    test(`let ${role} in`, async () => {
      for (const endpoint of endpoints) {
        const response = await ask(endpoint, bearer(await token({ role })))
        const isIn = response.statusCode !== 401 && response.statusCode !== 403
        assert.ok(isIn, `${endpoint.method} ${endpoint.url}: ${response.body}`)
        assert.ok(response.statusCode < 500, response.body)
      }
    })
  }

  test('AUTH_JWT_ADMIN_ROLES replaces the roles', async (t) => {
    const { app: strict, config } = await build(t, { env: { AUTH_JWT_ADMIN_ROLES: 'root' } })
    const asked = async (role: string) => {
      const headers = bearer(await token({ role }, hour, config.AUTH_JWT_SECRET))
      return (await strict.inject({ url: '/admin/users', headers })).statusCode
    }
    assert.equal(await asked('root'), 200)
    assert.equal(await asked('service_role'), 403)
  })

  test('service_role and platform_admin may invite without being admins', async (t) => {
    const { app } = await build(t, { env: { ...autoconfirm, AUTH_JWT_ADMIN_ROLES: 'root' } })
    for (const role of ['service_role', 'platform_admin']) {
      const { user, email } = await newPerson(app)
      await app.db.updateTable('users').set({ role }).where('id', '=', user.id).execute()
      const { access_token: token } = await signedIn(app, email)
      const invited = await call(app, '/invite', { email: newAddress() }, { token })
      assert.deepEqual(outcomeOf(invited), [200, ''], role)
      const list = await call(app, '/admin/users', undefined, { token })
      assert.deepEqual(outcomeOf(list), [403, 'not_admin'], role)
    }
  })

  function ask({ method, url }: Endpoint, headers: Record<string, string>) {
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

/** Nobody's: what is asked for in the place of every id. */
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

function somebody(app: App) {
  return createdPerson(app, { email: newAddress(), email_confirm: true, password })
}
