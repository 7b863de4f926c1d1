import react from '@vitejs/plugin-react';
import { defineConfig } from 'vitest/config';

// Relative URLs, so that the page works under the path prefix of a proxy.
export default defineConfig({
  base: './',
  test: { css: true },
  plugins: [react()],
  worker: { format: 'es' },
  build: {
    outDir: '../src/colline/server/static',
    emptyOutDir: true,
    target: 'es2022',
    // The content security policy of the server forbids data: URLs and inline styles, so every asset is a file.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    license: { fileName: 'licenses.md' },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:5000', '/healthz': 'http://127.0.0.1:5000' } },
});
