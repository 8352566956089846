/** The state of user lists and hooks, and the job that calls the after-user-created hook. */
import type { FastifyInstance } from 'fastify'

import { defineModule } from '../../plugins/define-plugin.ts'
import { createListState } from './admin/list.ts'
import { afterUserCreatedTask, createHookTiming, runAfterUserCreated } from './sign-up/hooks.ts'

declare module 'fastify' {
  interface FastifyInstance {
    users: ReturnType<typeof createUsers>
  }
}

function createUsers(app: FastifyInstance) {
  app.jobQueue.addTask(afterUserCreatedTask, (payload) => runAfterUserCreated(app, payload))
  return { hookTiming: createHookTiming(), listState: createListState(app) }
}

export default defineModule('users', createUsers)
