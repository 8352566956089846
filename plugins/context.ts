/**
 * What is known of the request or job that something is done for, wherever in the code that happens: what its lines in
 * the log say, and how long it may go on.
 */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'

import type { FastifyRequest } from 'fastify'

import { defineExtension } from './define-plugin.ts'
import type { TimeLimit } from './request-duration/time-limit.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before the first hook. */
    context: Context | null
  }
}

export interface Context {
  logFields: LogFields
  /** Of requests; jobs and what goes on in the background take as long as they take. */
  timeLimit?: TimeLimit
  /** Of requests: what is done once they are answered or given up; undefined from then on. */
  afterwards?: (() => void)[] | undefined
}

export interface LogFields {
  reqId?: string
  /** The job of the queue, and what kind of job it is. */
  job?: string
  task?: string
  /** Where the trace is recorded; names as OpenTelemetry has them for logs. */
  trace_id?: string
  span_id?: string
}

const storage = new AsyncLocalStorage<Context>()
const none: LogFields = {}

/** The fields of whatever is being done. */
export function logFields(): LogFields {
  return storage.getStore()?.logFields ?? none
}

/** Does the work with these fields in every line. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return storage.run({ logFields: fields }, work)
}

/** Of the request whose work this is. */
export function timeLimit(): TimeLimit | undefined {
  return storage.getStore()?.timeLimit
}

/** Does the work under this limit, and not under that of the request that happened to begin it. */
export function withTimeLimit<T>(limit: TimeLimit, work: () => T): T {
  return storage.run({ logFields: logFields(), timeLimit: limit }, work)
}

/** For work that others wait for as well, or will use the outcome of: it does not end with the request that began it. */
export function withoutTimeLimit<T>(work: () => T): T {
  return storage.run({ logFields: logFields() }, work)
}

/** The work, to be done later for whom it is asked now, in every context there is. `AsyncResource.bind` takes 2 µs for it. */
export function bindContext<T>(work: () => T): () => T {
  const resource = new AsyncResource('postern.later')
  return () => resource.runInAsyncScope(work)
}

/**
 * Does `work`, in no context, once the request that this is part of has been answered, or its client has hung up. False,
 * and never, where it is part of none, or of one that is over.
 */
export function onceAnswered(work: () => void): boolean {
  const afterwards = storage.getStore()?.afterwards
  afterwards?.push(work)
  return afterwards !== undefined
}

function close(context: Context): void {
  const { afterwards = [] } = context
  context.afterwards = undefined
  for (const work of afterwards) work()
}

export default defineExtension({
  name: 'context',
  needs: ['addHook', 'decorateRequest'],
  install(house) {
    house.decorateRequest('context', null)
    house.addHook('onRequest', (request, reply, done) => {
      const context: Context = { logFields: { reqId: request.id }, afterwards: [] }
      request.context = context
      // The only listener for it: one more, or a context that knows the response, made GET /user slower.
      reply.raw.once('close', () => close(context))
      storage.run(context, done)
    })
    // The last bytes of a body, and the end of an answer, come in the context of the connection.
    house.addHook('preValidation', inContext)
    house.addHook('onResponse', inContext)
  },
})

function inContext({ context }: FastifyRequest, _reply: unknown, done: () => void) {
  if (context && context !== storage.getStore()) storage.run(context, done)
  else done()
}
