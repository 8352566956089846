#!/usr/bin/env node
// The command `postern` of the npm package, in which cli.ts is JavaScript (scripts/release/npm-package.ts).
import './scripts/require-node.cjs'

await import('./cli.js')
