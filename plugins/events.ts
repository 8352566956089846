/** Events: what happened, for webhooks and for GET /admin/events; the endpoints that are told, and the loop that tells them. */
import { bindSteps, definePlugin, type House } from './define-plugin.ts'
import { removeOld, scheduleCleanUp } from './events/clean-up.ts'
import { createDispatcher } from './events/dispatcher.ts'
import { changeEndpoint, createEndpoint, removeEndpoint, rotateSecret } from './events/endpoints.ts'
import { syncEnvironment } from './events/environment.ts'
import { createRecorder } from './events/record.ts'
import { endpointTraits, toDelivery } from './events/show.ts'
import { testEndpoint } from './events/test-delivery.ts'

declare module 'fastify' {
  interface FastifyInstance {
    events: ReturnType<typeof createEvents>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  'addHook',
  'config',
  'db',
  'encryption',
  'httpClient',
  'jobQueue',
  'log',
  'telemetry',
] as const

function createEvents(house: House<Needs>) {
  const recorder = createRecorder(house.config)
  const dispatcher = createDispatcher(house)
  scheduleCleanUp(house)
  house.addHook('onReady', async () => {
    if (!recorder.enabled) return
    await syncEnvironment(house, new Date())
    dispatcher.start()
  })
  // Before the pool and the HTTP client are closed, which it uses to the end.
  house.addHook('onClose', dispatcher.stop)
  return {
    ...recorder,
    removeEndpoint,
    endpointTraits,
    toDelivery,
    ...bindSteps(house, { createEndpoint, changeEndpoint, rotateSecret, testEndpoint, removeOld }),
  }
}

export default definePlugin({ name: 'events', needs, create: createEvents })
