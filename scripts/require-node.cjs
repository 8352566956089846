// Loaded first, in syntax that every version of Node.js supports: older ones fail at the first type.
const { engines } = require('../package.json')

const least = Number(/\d+/.exec(engines.node)[0])

if (Number.parseInt(process.versions.node, 10) < least) {
  console.error(
    `Node.js ${least} or later is needed, and this is ${process.versions.node}: install it from https://nodejs.org, or run npm ci without --omit=dev, which brings it along.`,
  )
  process.exit(1)
}
