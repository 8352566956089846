/** Admin requests. */
import assert from 'node:assert/strict'

import type { User } from '../../schemas/user.ts'
import type { App } from './server.ts'
import { adminToken } from './users.ts'

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

/** One request with a service_role token. */
export async function asAdmin(app: App, method: Method, url: string, payload?: object) {
  const authorization = `Bearer ${await adminToken(app)}`
  return app.inject({ method, url, headers: { authorization }, ...(payload && { payload }) })
}

/** The body of a request that must succeed. */
export async function adminCall<Answer = User>(
  app: App,
  method: Method,
  url: string,
  payload?: object,
): Promise<Answer> {
  const response = await asAdmin(app, method, url, payload)
  assert.equal(response.statusCode, 200, `${method} ${url}: ${response.body}`)
  return response.json()
}
