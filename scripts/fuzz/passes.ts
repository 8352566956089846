/** Each pass is a set of operations and the token to send. */
import type { FuzzedServer } from './server.ts'

export interface PassOptions {
  /** Options of `schemathesis run` that choose the operations. */
  choice: string[]
  token?: string
  /** Values of path parameters, so that requests find a user. */
  parameters?: Record<string, string>
}

type Pass = (server: FuzzedServer) => Promise<PassOptions>

const admins = '^/(admin|invite)'
const ofOneUser = '^/admin/users/{user_id}'
const users = '^/(user|sessions|reauthenticate)'

export const passes: Record<string, Pass> = {
  'unauthenticated clients, everywhere': async () => ({ choice: [] }),
  'admins, everywhere': async ({ adminToken }) => ({
    choice: ['--include-path-regex', admins],
    token: adminToken,
  }),
  'admins, about an existing user': async ({ adminToken, signUpUser }) => ({
    choice: ['--include-path-regex', ofOneUser, '--exclude-method', 'DELETE'],
    token: adminToken,
    parameters: { user_id: (await signUpUser()).id },
  }),
  'users, about their own account': async ({ signUpUser }) => ({
    choice: ['--include-path-regex', users],
    token: (await signUpUser()).token,
  }),
  'users who leave': async ({ signUpUser }) => ({
    choice: ['--include-path', '/logout'],
    token: (await signUpUser()).token,
  }),
}
