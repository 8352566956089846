/** What people do with a phone, over HTTP. */
import assert from 'node:assert/strict'
import { randomInt } from 'node:crypto'
import { after } from 'node:test'

import type { Session } from '../../schemas/session.ts'
import { call, password } from './mail-journeys.ts'
import { type BuildOptions, build } from './server.ts'
import { startSmsServer } from './sms-server.ts'

interface Ending {
  after(stop: () => Promise<void>): void
}

export type PhoneServer = Awaited<ReturnType<typeof buildWithSms>>

/** A server that sends its text messages to a provider on this machine, without waits between them. */
export async function buildWithSms(t: Ending, { env, ...options }: BuildOptions = {}) {
  const sms = await startSmsServer()
  t.after(sms.stop)
  return { ...(await build(t, { ...options, env: { ...sms.env, ...env } })), sms }
}

/** One server for all tests of a suite: called in the suite, and the result in its tests. */
export function sharedSmsServer(options: BuildOptions = {}) {
  let server: Promise<PhoneServer> | undefined
  const closing: (() => Promise<void>)[] = []
  after(async () => {
    for (const close of closing.reverse()) await close()
  })
  return () => {
    server ??= buildWithSms({ after: (close) => void closing.push(close) }, options)
    return server
  }
}

/** A number that nobody has, as stored. */
export const newNumber = () => `1555${String(randomInt(10 ** 7)).padStart(7, '0')}`

export const post = ({ app }: Pick<PhoneServer, 'app'>, url: string, payload: object, token = '') =>
  call(app, url, payload, { token })

export const put = (
  { app }: Pick<PhoneServer, 'app'>,
  payload: object,
  { access_token: token }: Pick<Session, 'access_token'>,
) => call(app, '/user', payload, { method: 'PUT', token })

/** Status and error code of an answer. */
export function outcomeOf(response: { statusCode: number; body: string; json: () => unknown }) {
  const { error_code: code }: { error_code?: string } = Object(response.json())
  return [response.statusCode, code ?? '']
}

/** Does what sends a message and returns its code. */
export async function codeAfter(
  { sms }: PhoneServer,
  phone: string,
  act: () => PromiseLike<{ statusCode: number; body: string }>,
): Promise<string> {
  const since = sms.messages.length
  const response = await act()
  assert.equal(response.statusCode, 200, response.body)
  return sms.code(phone, since)
}

/** Somebody who signed up with phone and password and typed the code. */
export async function phonePerson(server: PhoneServer, phone = newNumber()): Promise<Session> {
  const token = await codeAfter(server, phone, () => post(server, '/signup', { phone, password }))
  const response = await post(server, '/verify', { type: 'sms', phone, token })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}

/** Somebody with an email address, on a server that confirms those at once. */
export async function mailPerson(server: Pick<PhoneServer, 'app'>): Promise<Session> {
  const email = `${crypto.randomUUID()}@example.com`
  const response = await post(server, '/signup', { email, password })
  assert.equal(response.statusCode, 200, response.body)
  return response.json()
}
