/** Malformed Authorization headers are rejected without server errors. */
import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import fc from 'fast-check'
import { SignJWT } from 'jose'

import { nilUuid } from '../../../db/tables/users.ts'
import { sharedServers } from '../../support/processes/shared-servers.ts'
import { call, getUser, statusAndCode } from '../../support/requests.ts'
import { endsInTime } from '../../support/runner/bounded.ts'
import type { App } from '../../support/server.ts'
import { autoconfirm, signedIn, signUpUser } from '../../support/users.ts'

const budget = { numRuns: 400, interruptAfterTimeLimit: 4_000 }
const rejections = ['no_authorization', 'bad_jwt', 'user_not_found', 'session_not_found']

const visible = fc.string({
  unit: fc.integer({ min: 0x20, max: 0xff }).map(toChar),
  maxLength: 300,
})
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const part = fc.oneof(
  fc.jsonValue().map(base64url),
  visible.map(base64url),
  fc
    .record({ alg: fc.constantFrom('none', 'HS256', 'RS256', 'ES256', ''), kid: visible })
    .map(base64url),
  fc.constant('['.repeat(3000)).map(base64url),
)
const tokens = fc.array(part, { maxLength: 6 }).map((parts) => parts.join('.'))
const schemes = fc.constantFrom('Bearer ', 'bearer  ', 'BEARER\t', 'Bearer', 'Basic ', 'DPoP ', '')
const headers = fc.oneof(
  visible,
  fc.tuple(schemes, fc.oneof(tokens, visible)).map((pieces) => pieces.join('')),
)

suite('bearer token parser', () => {
  const serverFor = sharedServers()

  test('rejects anything that is not a token of this server', async () => {
    const { app } = await serverFor(autoconfirm)
    await fc.assert(
      fc.asyncProperty(headers, (authorization) => assertRejected(app, authorization)),
      budget,
    )
  })

  test('rejects a token that was altered, truncated or recombined', async () => {
    const { app } = await serverFor(autoconfirm)
    const user = await signUpUser(app)
    const [token, other] = [user.access_token, (await signedIn(app, user.email)).access_token]
    const parts = token.split('.')
    const others = other.split('.')
    const changes = fc.oneof(
      fc
        .tuple(fc.nat(token.length - 2), fc.nat(63))
        .map(([at, digit]) => withDigit(token, at, digit)),
      fc.nat(token.length - 1).map((length) => token.slice(0, length)),
      fc.tuple(fc.nat(token.length), visible).map(([at, text]) => insert(token, at, text)),
      fc
        .array(fc.constantFrom(...parts, ...others), { minLength: 1, maxLength: 5 })
        .map((pieces) => pieces.join('.')),
    )
    const isChanged = (changed: string) => changed.trim() !== token && changed.trim() !== other
    await fc.assert(
      fc.asyncProperty(changes.filter(isChanged), (changed) =>
        assertRejected(app, `Bearer ${changed}`),
      ),
      budget,
    )
    assert.equal((await getUser(app, user)).statusCode, 200)
  })

  test('checks the ids in a token and their spelling', async () => {
    const { app } = await serverFor(autoconfirm)
    const user = await signUpUser(app)
    const { access_token: token } = user
    const { sub = '', session_id = '', ...claims } = await app.jwt.verify(token)
    const unknown = crypto.randomUUID()
    const responses: [claims: object, answer: unknown[]][] = [
      [{ sub: sub.toUpperCase(), session_id: session_id.toUpperCase() }, [200, '']],
      [{ sub: sub.toUpperCase() }, [200, '']],
      [{ sub, session_id: nilUuid }, [200, '']],
      [{ sub, session_id: unknown }, [403, 'session_not_found']],
      [{ sub, session_id: 'x' }, [403, 'bad_jwt']],
      [{ sub: 'x', session_id }, [400, 'bad_jwt']],
      [{ session_id }, [403, 'bad_jwt']],
    ]
    for (const [named, response] of responses) {
      const access_token = await app.jwt.sign({ ...claims, ...named })
      const outcome = statusAndCode(await getUser(app, { access_token }))
      assert.deepEqual(outcome, response, JSON.stringify(named))
    }
    await assertRejected(app, `Bearer ${token} ${token}`)
    const aud = await call(app, '/user', undefined, { token, headers: { 'x-jwt-aud': '' } })
    assert.deepEqual(statusAndCode(aud), [400, 'validation_failed'])
  })

  test('returns no server error for claims of any type in a signed token', async () => {
    const { app, config } = await serverFor(autoconfirm)
    const { user } = await signUpUser(app)
    const secret = new TextEncoder().encode(config.AUTH_JWT_SECRET)
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 2 }),
      fc.constantFrom(
        user.id,
        user.id.toUpperCase(),
        '',
        'x',
        '\0',
        -1,
        1e300,
        crypto.randomUUID(),
      ),
    )
    const names = ['sub', 'session_id', 'role', 'aud', 'iss', 'aal', 'amr', 'is_anonymous', 'act']
    const entries = names.map((name) => [name, fc.option(value, { nil: undefined })] as const)
    const claims = fc.record(Object.fromEntries(entries))
    const paths = fc.constantFrom('/user', '/sessions', '/admin/keys')
    await fc.assert(
      fc.asyncProperty(claims, paths, async (payload, url) => {
        const header = { alg: 'HS256', typ: 'JWT' }
        const token = await new SignJWT(payload).setProtectedHeader(header).sign(secret)
        const response = await app.inject({ url, headers: { authorization: `Bearer ${token}` } })
        assert.ok(response.statusCode < 500, `${JSON.stringify(payload)}: ${response.body}`)
      }),
      budget,
    )
  })
})

async function assertRejected(app: App, authorization: string): Promise<void> {
  await endsInTime(async () => {
    const response = await app.inject({ url: '/user', headers: { authorization } })
    assert.ok([400, 401, 403].includes(response.statusCode), `${authorization}: ${response.body}`)
    assert.ok(rejections.includes(response.json().error_code), response.body)
  })
}

function toChar(code: number): string {
  return String.fromCharCode(code)
}

/** Except the last digit, whose unused bits do not change the signature. */
function withDigit(token: string, at: number, digit: number): string {
  const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return token.slice(0, at) + digits.charAt(digit) + token.slice(at + 1)
}

function insert(token: string, at: number, text: string): string {
  return token.slice(0, at) + text + token.slice(at)
}
