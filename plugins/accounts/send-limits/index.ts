/**
 * How often something may be sent to one address, and how much in an hour.
 * The address need not belong to anybody: unknown ones wait just as long, so that waiting tells nothing.
 */
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { channelLimits } from './channels.ts'
import { chargeQuota, checkQuota, claimInterval, release } from './limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sendLimits: ReturnType<typeof createSendLimits>
  }
}

function createSendLimits({ config, encryption }: House<'config' | 'encryption'>) {
  const key = encryption.deriveKey('send limits')
  const policy = { key, channels: channelLimits(config) }
  return bindSteps(policy, { claimInterval, checkQuota, chargeQuota, release })
}

export default definePlugin({
  name: 'sendLimits',
  needs: ['config', 'encryption'],
  create: createSendLimits,
})
