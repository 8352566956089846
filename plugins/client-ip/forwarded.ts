/** Who sent a request: told by the connection, and by those proxies that the operator named. */
import { BlockList, isIP, isIPv4 } from 'node:net'

import ipaddr from 'ipaddr.js'

export function createForwarded(networks: readonly string[]) {
  const proxies = new BlockList()
  for (const network of networks) {
    const [address = '', bits] = network.split('/')
    const family = familyOf(address)
    proxies.addSubnet(address, Number(bits ?? (family === 'ipv4' ? 32 : 128)), family)
  }

  function isProxy(address: string): boolean {
    return isIP(address) !== 0 && proxies.check(address, familyOf(address))
  }

  return {
    isProxy,

    /**
     * Each proxy appends whom it had the request from, so the chain is true from its right end on, for as long as
     * the writer of an entry is one of our proxies. What stands further left, the client may have written itself.
     */
    clientOf(peer: string, chain: string): string {
      let known = addressIn(peer) ?? peer
      if (chain === '') return known
      for (const entry of chain.split(',').reverse()) {
        const next = isProxy(known) ? addressIn(entry) : undefined
        if (next === undefined) return known
        known = next
      }
      return known
    },
  }
}

/** In its one usual form, without a port and without `%eth0`, which means something on one machine only (RFC 4007 §11). */
export function addressIn(entry: string): string | undefined {
  // Most are nothing else, and have one form only.
  if (isIPv4(entry)) return entry
  const [, bracketed, dotted] = /^\s*(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)\s*$/.exec(entry) ?? []
  const [address = ''] = (bracketed ?? dotted ?? entry.trim()).split('%', 1)
  return isIP(address) === 0 ? undefined : ipaddr.process(address).toString()
}

function familyOf(address: string): 'ipv4' | 'ipv6' {
  return isIP(address) === 6 ? 'ipv6' : 'ipv4'
}
