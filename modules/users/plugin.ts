/** The dependencies and state of this module, and the job that calls the after-user-created hook. */
import { type Deps, definePlugin } from '../../plugins/define-plugin.ts'
import { createListState } from './admin/list.ts'
import { afterUserCreatedTask, runAfterUserCreated } from './sign-up/after-user-created.ts'
import { createHookTiming } from './sign-up/before-user-created.ts'

declare module 'fastify' {
  interface FastifyInstance {
    users: ReturnType<typeof createUsers>
  }
}

type UsersDeps = Deps<(typeof deps)[number]>

const deps = [
  'audit',
  'config',
  'db',
  'emails',
  'encryption',
  'events',
  'hooks',
  'jobQueue',
  'bearerAuth',
  'log',
  'otp',
  'passwords',
  'readDb',
  'sessions',
  'usernames',
] as const

function createUsers(instance: UsersDeps) {
  const { audit, config, db, emails, encryption, events, hooks, jobQueue } = instance
  const { bearerAuth, log, otp, passwords, readDb, sessions, usernames } = instance
  jobQueue.addTask(afterUserCreatedTask, (payload) => runAfterUserCreated(instance, payload))
  return {
    ...{ audit, config, db, emails, encryption, events, hooks, jobQueue },
    ...{ bearerAuth, log, otp, passwords, readDb, sessions, usernames },
    hookTiming: createHookTiming(),
    listState: createListState({ readDb }),
  }
}

export default definePlugin({ name: 'users', deps, create: createUsers })
