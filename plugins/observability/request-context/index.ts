/** The context of the current request or job: its log fields, its deadline and who acts. */
import { AsyncLocalStorage, AsyncResource } from 'node:async_hooks'

import type { FastifyRequest } from 'fastify'

import { type Acting, systemActing } from '../../../schemas/values/acting.ts'
import { defineHooksPlugin } from '../../define-plugin.ts'
import type { RequestDeadline } from './deadline.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Null before the first hook. */
    requestContext: Context | null
  }
}

interface Context {
  logFields: LogFields
  /** Requests only: null before the authentication. */
  acting?: Acting | null
  /** Requests only; jobs and background work have no deadline. */
  requestDeadline?: RequestDeadline
  /** Requests only: callbacks to run after the response or its cancellation; undefined from then on. */
  afterCallbacks?: (() => void)[] | undefined
}

interface LogFields {
  request_id?: string
  /** The job's id, and its task. */
  job?: string
  task?: string
  /** Present when the trace is recorded; named as in OpenTelemetry's log data model. */
  trace_id?: string
  span_id?: string
}

const storage = new AsyncLocalStorage<Context>()
const none: LogFields = {}

/** The fields of the current context. */
export function logFields(): LogFields {
  return storage.getStore()?.logFields ?? none
}

/** Runs the work with these fields in every log line. */
export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return storage.run({ logFields: fields }, work)
}

/** Called by whatever authenticates the current request: its audit entries and events name this actor. */
export function identify(acting: Acting): void {
  const context = storage.getStore()
  if (context?.acting !== undefined) context.acting = acting
}

/** Who makes the current request; before the authentication, the user concerned. Outside of requests, the system. */
export function describeActor(userId: string | null): Acting {
  const acting = storage.getStore()?.acting
  if (acting === undefined) return systemActing
  return acting ?? { actor: { type: userId ? 'user' : 'anonymous', id: userId } }
}

/** The deadline of the current request. */
export function requestDeadline(): RequestDeadline | undefined {
  return storage.getStore()?.requestDeadline
}

/** Runs the work under this deadline instead of that of the request that happened to start it. */
export function withDeadline<T>(limit: RequestDeadline, work: () => T): T {
  return storage.run({ logFields: logFields(), requestDeadline: limit }, work)
}

/** For work that other requests share: it does not end with the request that started it. */
export function withoutDeadline<T>(work: () => T): T {
  return storage.run({ logFields: logFields() }, work)
}

/** Binds the work to all current contexts. `AsyncResource.bind` takes 2 µs. */
export function bindContext<T>(work: () => T): () => T {
  const resource = new AsyncResource('postern.later')
  return () => resource.runInAsyncScope(work)
}

/**
 * Runs `work`, outside any context, after the response was sent or the client disconnected. Returns false and never
 * runs it when there is no current request, or when it is over.
 */
export function afterResponse(work: () => void): boolean {
  const afterCallbacks = storage.getStore()?.afterCallbacks
  afterCallbacks?.push(work)
  return afterCallbacks !== undefined
}

function close(context: Context): void {
  const { afterCallbacks = [] } = context
  context.afterCallbacks = undefined
  for (const work of afterCallbacks) work()
}

export default defineHooksPlugin({
  name: 'request-context',
  deps: ['addHook', 'decorateRequest'],
  install(deps) {
    deps.decorateRequest('requestContext', null)
    deps.addHook('onRequest', (request, reply, done) => {
      const logFields = { request_id: request.id }
      const context: Context = { logFields, acting: null, afterCallbacks: [] }
      request.requestContext = context
      // The only listener: one more, or a context that references the response, made GET /user slower.
      reply.raw.once('close', () => close(context))
      storage.run(context, done)
    })
    // The end of a body and of a response are reported in the connection's context.
    deps.addHook('preValidation', inContext)
    deps.addHook('onResponse', inContext)
  },
})

function inContext({ requestContext: context }: FastifyRequest, _reply: unknown, done: () => void) {
  if (context && context !== storage.getStore()) storage.run(context, done)
  else done()
}
