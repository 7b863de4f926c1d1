import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

// Relative addresses: the page also works under a proxy's path prefix.
export default defineConfig({
  base: './',
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: '../src/colline/server/static',
    emptyOutDir: true,
    target: 'es2022',
    // The policy of the server forbids data: scripts and inline styles; every asset stays a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:5000', '/healthz': 'http://127.0.0.1:5000' } },
});
