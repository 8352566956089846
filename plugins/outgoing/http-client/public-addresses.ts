/** Detects addresses on the public internet, and provides a DNS lookup that returns only those. */
import dns from 'node:dns'
import type { LookupFunction } from 'node:net'

import ipaddr from 'ipaddr.js'

// Azure's host agent has a public address and serves the machine's credentials.
const publicMetadataAddresses = new Set(['168.63.129.16'])
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3')

/** True for an address on the public internet; false for private, local, reserved and translated ones. */
export function isPublicAddress(address: string): boolean {
  const parsed = ipaddr.process(address)
  if (parsed.range() !== 'unicast') return false
  if (parsed instanceof ipaddr.IPv6) return parsed.match(globalUnicast)
  return !publicMetadataAddresses.has(parsed.toString())
}

/**
 * A `lookup` for sockets. The socket connects to the returned address, which cannot change between check and use. Fails
 * for a name without a public address.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  dns.lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error) return callback(error, '')
    const allowed = addresses.filter(({ address }) => isPublicAddress(address))
    const [first] = allowed
    if (!first) return callback(new Error(`${hostname} has no public address`), '')
    if (options.all) return callback(null, allowed)
    callback(null, first.address, first.family)
  })
}

/** Rejects for a name that `publicLookup` has no address for. */
export function resolvesPublicly(hostname: string): Promise<void> {
  return new Promise((resolve, reject) => {
    publicLookup(hostname.replace(/^\[(.*)\]$/, '$1'), {}, (error) => {
      if (error) reject(new TypeError(error.message, { cause: error }))
      else resolve()
    })
  })
}
