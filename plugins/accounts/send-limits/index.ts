/**
 * How often something may be sent to one address, and how much in an hour.
 * The address need not belong to anybody: unknown ones wait just as long, so that waiting tells nothing.
 */
import { findQuotaLeft } from '../../../db/send-limits.ts'
import { bindSteps, definePlugin, type House } from '../../define-plugin.ts'
import { channelLimits, type SendChannel, type SendLimits } from './channels.ts'
import { chargeQuota, checkQuota, claimInterval, release } from './limits.ts'

declare module 'fastify' {
  interface FastifyInstance {
    sendLimits: ReturnType<typeof createSendLimits>
  }
}

type Needs = (typeof needs)[number]

const needs = ['config', 'db', 'encryption', 'telemetry'] as const

function createSendLimits(house: House<Needs>) {
  const { config, encryption, telemetry } = house
  const key = encryption.deriveKey('send limits')
  const channels = channelLimits(config)
  addGauge(house, channels)
  const policy = { key, channels, metrics: telemetry.metrics }
  return bindSteps(policy, { claimInterval, checkQuota, chargeQuota, release })
}

/** Of the channels that have a quota. */
function addGauge({ db, telemetry }: House<'db' | 'telemetry'>, limits: SendLimits): void {
  const left = async (channel: SendChannel) => {
    const { quota } = limits[channel]
    if (!quota) return []
    const value = await findQuotaLeft(db, channel, quota, new Date())
    return [{ value, labels: { channel } }]
  }
  telemetry.metrics.gauge('postern.send_quota.left', async () => [
    ...(await left('email')),
    ...(await left('sms')),
  ])
}

export default definePlugin({ name: 'sendLimits', needs, create: createSendLimits })
