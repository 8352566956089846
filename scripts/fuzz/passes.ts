/** Who asks for what: each pass is a choice of operations and the token that is sent with them. */
import type { FuzzedServer } from './server.ts'

export interface PassOptions {
  /** Options of `schemathesis run` that choose the operations. */
  choice: string[]
  token?: string
  /** Values of path parameters, so that requests find somebody. */
  parameters?: Record<string, string>
}

type Pass = (server: FuzzedServer) => Promise<PassOptions>

const admins = '^/(admin|invite)'
const ofOnePerson = '^/admin/users/{user_id}'
const people = '^/(user|sessions|reauthenticate)'

export const passes: Record<string, Pass> = {
  'strangers, everywhere': async () => ({ choice: [] }),
  'admins, everywhere': async ({ adminToken }) => ({
    choice: ['--include-path-regex', admins],
    token: adminToken,
  }),
  'admins, about somebody who is there': async ({ adminToken, newPerson }) => ({
    choice: ['--include-path-regex', ofOnePerson, '--exclude-method', 'DELETE'],
    token: adminToken,
    parameters: { user_id: (await newPerson()).id },
  }),
  'people, about themselves': async ({ newPerson }) => ({
    choice: ['--include-path-regex', people],
    token: (await newPerson()).token,
  }),
  'people who leave': async ({ newPerson }) => ({
    choice: ['--include-path', '/logout'],
    token: (await newPerson()).token,
  }),
}
