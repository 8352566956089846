/** Webhooks: the endpoints that are told of events, and the loop that tells them. */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { removeOld, scheduleCleanUp } from './clean-up.ts'
import { createDispatcher } from './dispatcher.ts'
import { changeEndpoint, createEndpoint, removeEndpoint, rotateSecret } from './endpoints.ts'
import { syncEnvironment } from './environment.ts'
import { recorded, toDelivery } from './show.ts'
import { testEndpoint } from './test-delivery.ts'

declare module 'fastify' {
  interface FastifyInstance {
    webhooks: ReturnType<typeof createWebhooks>
  }
}

type Needs = (typeof needs)[number]

const needs = [
  ...(['addHook', 'config', 'db', 'encryption', 'events', 'httpClient', 'jobQueue'] as const),
  ...(['log', 'telemetry'] as const),
] as const

function createWebhooks(house: House<Needs>) {
  const dispatcher = createDispatcher(house)
  scheduleCleanUp(house)
  house.addHook('onReady', async () => {
    if (!house.events.enabled) return
    await syncEnvironment(house, new Date())
    dispatcher.start()
  })
  // Before the pool and the HTTP client are closed, which it uses to the end.
  house.addHook('onClose', dispatcher.stop)
  return {
    ...{ removeEndpoint, recorded, toDelivery },
    ...bindSteps(house, { createEndpoint, changeEndpoint, rotateSecret, testEndpoint, removeOld }),
  }
}

export default definePlugin({ name: 'webhooks', needs, create: createWebhooks })
