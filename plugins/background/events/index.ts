/** Events for webhooks and GET /admin/events: recording them, managing endpoints and delivering. */
import { type Deps, definePlugin } from '../../define-plugin.ts'
import { removeOld, scheduleEventCleanup } from './cleanup.ts'
import { createDispatcher } from './dispatcher.ts'
import { changeEndpoint, createEndpoint, removeEndpoint, rotateSecret } from './endpoints.ts'
import { syncEnvironment } from './environment.ts'
import { createRecorder } from './record.ts'
import { endpointTraits, toDelivery } from './responses.ts'
import { testEndpoint } from './test-delivery.ts'

declare module 'fastify' {
  interface FastifyInstance {
    events: ReturnType<typeof createEvents>
  }
}

type DepNames = (typeof deps)[number]

const deps = [
  'addHook',
  'config',
  'db',
  'encryption',
  'httpClient',
  'jobQueue',
  'log',
  'telemetry',
] as const

function createEvents(deps: Deps<DepNames>) {
  const recorder = createRecorder(deps.config)
  const dispatcher = createDispatcher(deps)
  scheduleEventCleanup(deps)
  deps.addHook('onReady', async () => {
    if (!recorder.enabled) return
    await syncEnvironment(deps, new Date())
    dispatcher.start()
  })
  // Runs before the pool and the HTTP client close, which deliveries in progress still use.
  deps.addHook('onClose', dispatcher.stop)
  return {
    ...recorder,
    removeEndpoint,
    endpointTraits,
    toDelivery,
    createEndpoint: createEndpoint.bind(undefined, deps),
    changeEndpoint: changeEndpoint.bind(undefined, deps),
    rotateSecret: rotateSecret.bind(undefined, deps),
    testEndpoint: testEndpoint.bind(undefined, deps),
    removeOld: removeOld.bind(undefined, deps),
  }
}

export default definePlugin({ name: 'events', deps, create: createEvents })
